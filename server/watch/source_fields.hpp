// How a log line tells whose request it is about.
#pragma once

#include "backend.hpp"
#include "jsonrpc/message.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <string>
#include <utility>

namespace rkllm_mcp {

inline Json fields_of(const RequestSource& source) {
  Json id = id_value(source.id);
  if (id.is_string()) id = shortened(id.get_ref<const std::string&>());
  return Json{{"id", std::move(id)}, {"transport", source.transport}, {"peer", source.peer}};
}

}  // namespace rkllm_mcp
