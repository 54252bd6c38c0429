#include "upstreams/upstream_answer.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace rkllm_mcp {

bool has_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string();
}

namespace {

bool texts_are_texts(const Json& object, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names,
                             [&object](const char* name) { return !object.contains(name) || has_text(object, name); });
}

bool is_block(const Json& block) {
  if (!block.is_object() || !has_text(block, "type")) return false;
  if (!texts_are_texts(block, {"text", "uri", "mimeType", "data", "name", "title", "description"})) return false;
  const Json& type = block["type"];
  if (type == "text") return block.contains("text");
  if (type == "image" || type == "audio") return block.contains("data") && block.contains("mimeType");
  if (type == "resource_link") return block.contains("uri");
  if (type != "resource") return true;
  const auto resource = block.find("resource");
  return resource != block.end() && resource->is_object() && has_text(*resource, "uri") &&
         texts_are_texts(*resource, {"text", "blob", "mimeType"});
}

}  // namespace

bool is_tool_result(const Json& result) {
  if (!result.is_object()) return false;
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array() || !std::ranges::all_of(*content, is_block)) return false;
  const auto is_absent_or = [&result](const char* name, auto is_right) {
    const auto found = result.find(name);
    return found == result.end() || is_right(*found);
  };
  return is_absent_or("structuredContent", [](const Json& value) { return value.is_object(); }) &&
         is_absent_or("_meta", [](const Json& value) { return value.is_object(); }) &&
         is_absent_or("isError", [](const Json& value) { return value.is_boolean(); }) &&
         is_absent_or("resultType", [](const Json& value) { return value == "complete"; });
}

ErrorCode passed_on_code(int code) {
  constexpr std::array kJsonRpcs{ErrorCode::kParseError, ErrorCode::kInvalidRequest, ErrorCode::kMethodNotFound,
                                 ErrorCode::kInvalidParams, ErrorCode::kInternalError};
  const auto same = static_cast<ErrorCode>(code);
  if (std::ranges::find(kJsonRpcs, same) != kJsonRpcs.end()) return same;
  return same >= ErrorCode::kCallFailed && same <= ErrorCode::kCancelled ? same : ErrorCode::kInternalError;
}

}  // namespace rkllm_mcp
