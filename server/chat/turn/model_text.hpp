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
inline Json description_of(const ModelDescription& model) {
  Json all{{"name", model.name},
           {"aliases", model.aliases},
           {"path", model.path.empty() ? Json(nullptr) : Json(model.path)},
           {"handle", model.handle.empty() ? Json(nullptr) : Json(model.handle)},
           {"size", or_null(model.bytes)},
           {"modified_s", or_null(model.modified_s)},
           {"platform", or_null(model.platform)},
           {"context", or_null(model.context)},
           {"state", word_for(model.state)},
           {"loaded", model.state == ModelState::kLoaded},
           {"loaded_since_s", or_null(model.loaded_since_s)},
           {"expires_s", or_null(model.expires_s)},
           {"load_s", or_null(model.load_s)},
           {"queued", model.waiting}};
  if (model.state == ModelState::kLoading) {
    all["progress"] = Json{{"bytes", or_null(model.progress.bytes)},
                           {"total", or_null(model.progress.total)},
                           {"seconds_left", or_null(model.progress.seconds_left)}};
  }
  return all;
}

}  // namespace rkllm_mcp::chat
