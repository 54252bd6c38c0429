// How a client wants a call's results. These options stand beside the C parameters of calls that stream, in both
// dialects.
#pragma once

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <optional>

namespace rkllm_mcp {

struct ResultOptions {
  ArrayEncoding encoding = ArrayEncoding::kJson;
  bool keep_tokens = false;     // "include":["token_id"]
  bool queue_position = false;  // "include":["queue_position"]
};

// Takes "include" and "encoding" off `params`. Throws InvalidParams.
ResultOptions take_result_options(const Method& method, Json& params);

// Removes a member and gives its value; nothing if it is absent.
std::optional<Json> take_member(Json& object, const char* name);

}  // namespace rkllm_mcp
