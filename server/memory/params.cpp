#include "memory/params.hpp"

#include "jsonrpc/unread.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

std::string text_of(const Json& value, const std::string& path) {
  if (!value.is_string()) throw InvalidParams(path, "expected string");
  auto text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) throw InvalidParams(path, "U+0000 is not allowed");
  return text;
}

// Whether a string of this JSON text has U+0000, which is written as an escape there. A backslash is one, too.
bool has_nul(std::string_view json) {
  for (auto at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at + 2)) {
    if (json.substr(at).starts_with("\\u0000")) return true;
  }
  return false;
}

void check_length(const std::string& id, const std::string& path) {
  constexpr std::size_t kLongest = 256;
  if (id.empty() || id.size() > kLongest) throw InvalidParams(path, "expected 1 to 256 bytes");
}

Json object_read(Json params) {
  params = read_whole(std::move(params), kMostValuesReadOnLoop);
  if (params.is_null()) return Json::object();
  if (!params.is_object()) throw InvalidParams("params", "expected object");
  return params;
}

}  // namespace

Params::Params(Json params, TokenHolder holder) : params_(object_read(std::move(params))), holder_(std::move(holder)) {}

const Json* Params::member(const char* name) const {
  const auto found = params_.find(name);
  return found == params_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Params::text(const char* name) const {
  const Json* const value = member(name);
  if (value == nullptr) return std::nullopt;
  return text_of(*value, std::string("params.") + name);
}

std::string Params::required_text(const char* name) const {
  auto value = text(name);
  if (!value)
    throw InvalidParams(std::string("params.") + name, params_.contains(name) ? "expected string" : "missing");
  return *std::move(value);
}

std::int64_t Params::integer(const char* name, std::int64_t least, std::int64_t most, std::int64_t absent) const {
  const Json* const value = member(name);
  if (value == nullptr) return absent;
  const bool fits = value->is_number_integer() && *value >= least && *value <= most;
  if (!fits) {
    throw InvalidParams(std::string("params.") + name,
                        "expected an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value->get<std::int64_t>();
}

bool Params::flag(const char* name, bool absent) const {
  const Json* const value = member(name);
  if (value == nullptr) return absent;
  if (!value->is_boolean()) throw InvalidParams(std::string("params.") + name, "expected true or false");
  return value->get<bool>();
}

std::string Params::space() const {
  const auto space = text("space");
  if (!space || *space == holder_.name) return holder_.name;
  if (!holder_.may_admin) throw unauthorized("conversations of others take the permission admin");
  return *space;
}

std::string checked_id(const std::string& id, const std::string& path) {
  check_length(id, path);
  if (!is_valid_utf8(id)) throw InvalidParams(path, "expected UTF-8");
  return id;
}

std::string checked_title(std::string title, const std::string& path) {
  constexpr std::size_t kLongest = 1024;
  if (title.size() > kLongest) throw InvalidParams(path, "longer than 1024 bytes");
  return title;
}

std::optional<std::string> Params::id() const {
  const auto id = text("conversation_id");
  if (!id) return std::nullopt;
  return checked_id(*id, "params.conversation_id");
}

Key Params::key() const { return {space(), checked_id(required_text("conversation_id"), "params.conversation_id")}; }

Key Params::key_of_existing() const {
  Key key{space(), required_text("conversation_id")};
  check_length(key.id, "params.conversation_id");
  return key;
}

NewMessage Params::message_in(const Json& object, const std::string& path, Milliseconds time) {
  const auto required = [&](const char* name) {
    const auto found = object.find(name);
    if (found == object.end()) throw InvalidParams(path + "." + name, "missing");
    return text_of(*found, path + "." + name);
  };
  NewMessage message;
  const auto role = role_named(required("role"));
  if (!role) throw InvalidParams(path + ".role", "expected \"user\", \"assistant\", \"system\" or \"tool\"");
  message.role = *role;
  message.content = required("content");
  message.created = time;
  if (const auto metadata = object.find("metadata"); metadata != object.end() && !metadata->is_null()) {
    if (!metadata->is_object()) throw InvalidParams(path + ".metadata", "expected object");
    message.metadata = metadata->dump();
    if (has_nul(message.metadata)) throw InvalidParams(path + ".metadata", "U+0000 is not allowed");
  }
  return message;
}

Json object_schema(Json properties) {
  Json schema{{"type", "object"}, {"properties", Json::object()}};
  Json required = Json::array();
  for (auto& [name, property] : properties.items()) {
    const bool is_required = name.ends_with('!');
    const std::string plain = is_required ? name.substr(0, name.size() - 1) : name;
    if (is_required) required.push_back(plain);
    schema["properties"][plain] = std::move(property);
  }
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json text_schema(const char* description) { return Json{{"type", "string"}, {"description", description}}; }

Json integer_schema(const char* description, std::int64_t least, std::int64_t most) {
  return Json{{"type", "integer"}, {"minimum", least}, {"maximum", most}, {"description", description}};
}

}  // namespace rkllm_mcp::memory
