#include "call/result_options.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <utility>

namespace rkllm_mcp {

std::optional<Json> take_member(Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return std::nullopt;
  Json value = std::move(*found);
  object.erase(found);
  if (value.is_null()) return std::nullopt;
  return value;
}

ResultOptions take_result_options(const Method& method, Json& params) {
  ResultOptions options;
  if (!method.streams) return options;
  if (const auto encoding = take_member(params, "encoding")) {
    if (*encoding != "json" && *encoding != "base64") {
      throw InvalidParams("params.encoding", "expected \"json\" or \"base64\"");
    }
    options.encoding = *encoding == "base64" ? ArrayEncoding::kBase64 : ArrayEncoding::kJson;
  }
  if (const auto include = take_member(params, "include")) {
    if (!include->is_array()) throw InvalidParams("params.include", "expected an array");
    for (std::size_t at = 0; at < include->size(); ++at) {
      const Json& wanted = (*include)[at];
      if (wanted == "token_id") {
        options.keep_tokens = true;
      } else if (wanted == "queue_position") {
        options.queue_position = true;
      } else {
        throw InvalidParams("params.include[" + std::to_string(at) + "]",
                            "expected \"token_id\" or \"queue_position\"");
      }
    }
  }
  return options;
}

}  // namespace rkllm_mcp
