// How a tool that failed answers.
#pragma once

#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp {

// The message for people and models, then code and data for programs.
inline Json tool_error(const RpcError& error) {
  const Json details{{"code", static_cast<int>(error.code())}, {"data", error.data()}};
  return Json{{"content", Json::array({text_block(error.what()), text_block(to_text(details))})}, {"isError", true}};
}

}  // namespace rkllm_mcp
