// How a log line tells whose request it is about.
#pragma once

#include "backend.hpp"
#include "jsonrpc/message.hpp"

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp {

inline Json fields_of(const CallOrigin& origin) {
  return Json{{"id", id_value(origin.id)}, {"transport", origin.transport}, {"peer", origin.peer}};
}

}  // namespace rkllm_mcp
