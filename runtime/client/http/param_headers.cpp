#include "client/http/param_headers.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "transport/http/http_message.hpp"

#include <rkllm_mcp/base64.hpp>

#include <algorithm>
#include <functional>
#include <optional>

namespace rkllm_mcp::client {
namespace {

const Json* object_at(const Json& parent, const char* key) {
  if (!parent.is_object()) return nullptr;
  const auto found = parent.find(key);
  return found != parent.end() && found->is_object() ? &*found : nullptr;
}

// Every property with an annotation, at any depth, along with its value in `arguments` if it has one.
using Visit = std::function<void(const std::string& header, const Json* value)>;
void walk(const Json& schema, const Json* arguments, const Visit& visit) {
  const Json* const properties = object_at(schema, "properties");
  if (properties == nullptr) return;
  for (const auto& [name, property] : properties->items()) {
    if (!property.is_object()) continue;
    const Json* value = nullptr;
    if (arguments != nullptr && arguments->is_object()) {
      const auto found = arguments->find(name);
      if (found != arguments->end()) value = &*found;
    }
    const auto header = property.find(mcp::kParamAnnotation);
    if (header != property.end() && header->is_string() && http::is_token(header->get_ref<const std::string&>())) {
      visit(header->get<std::string>(), value);
    }
    walk(property, value, visit);
  }
}

std::optional<std::string> text_of_value(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  return std::nullopt;
}

// Whether the receiver reads back exactly this: it trims blanks, and takes what looks encoded for encoded.
bool is_plain(std::string_view text) {
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  const bool is_trimmed = !text.starts_with(' ') && !text.ends_with(' ');
  const bool looks_encoded = text.starts_with(mcp::kEncodedStart) && text.ends_with(mcp::kEncodedEnd);
  return is_printable && is_trimmed && !looks_encoded;
}

}  // namespace

void ParamHeaders::learn(std::string_view answer) {
  const auto message = parse_bounded(answer);
  const Json* const result = message ? object_at(*message, "result") : nullptr;
  if (result == nullptr || !result->contains("tools")) return;
  const std::lock_guard lock(mutex_);
  for (const Json& tool : (*result)["tools"]) {
    const Json* const schema = object_at(tool, "inputSchema");
    if (schema == nullptr || !tool.contains("name") || !tool["name"].is_string()) continue;
    const auto name = tool["name"].get<std::string>();
    schemas_.erase(name);
    bool is_annotated = false;
    walk(*schema, nullptr, [&](const std::string&, const Json*) { is_annotated = true; });
    if (is_annotated && schemas_.size() < kMostTools) schemas_.emplace(name, *schema);
  }
}

bool ParamHeaders::knows(const std::string& tool) const {
  const std::lock_guard lock(mutex_);
  return schemas_.contains(tool);
}

std::multimap<std::string, std::string> ParamHeaders::headers_of(std::string_view call) const {
  std::multimap<std::string, std::string> headers;
  const auto message = parse_bounded(call);
  const Json* const params = message ? object_at(*message, "params") : nullptr;
  if (params == nullptr || !params->contains("name") || !(*params)["name"].is_string()) return headers;
  const std::lock_guard lock(mutex_);
  const auto schema = schemas_.find((*params)["name"].get<std::string>());
  if (schema == schemas_.end()) return headers;
  walk(schema->second, object_at(*params, "arguments"), [&headers](const std::string& header, const Json* value) {
    const auto text = value != nullptr ? text_of_value(*value) : std::nullopt;
    if (text) headers.emplace(mcp::kParamHeaderStart + header, header_value(*text));
  });
  return headers;
}

std::string header_value(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  return std::string(mcp::kEncodedStart) + encode_base64(text) + std::string(mcp::kEncodedEnd);
}

}  // namespace rkllm_mcp::client
