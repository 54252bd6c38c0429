// What is known of a model, as JSON: for rkllm://models and for tools. Pure, any thread.
#pragma once

#include "chat/turn/model_lender.hpp"

#include <rkllm_mcp/json.hpp>

#include <optional>

namespace rkllm_mcp::chat {

// What is not known is null.
template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// {"name","aliases","path","size","modified_s","platform","context","state","loaded","loaded_since_s","expires_s",
// "load_s","queued"}, and while it is being loaded "progress". What is not known is null.
Json description_of(const ModelDescription& model);

}  // namespace rkllm_mcp::chat
