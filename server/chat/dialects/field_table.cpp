#include "chat/dialects/field_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kRequestName = "request";

constexpr std::array<std::pair<unsigned, std::string_view>, 5> kKindNames = {{{kBooleanField, "boolean"},
                                                                              {kNumberField, "number"},
                                                                              {kTextField, "string"},
                                                                              {kObjectField, "object"},
                                                                              {kArrayField, "array"}}};

unsigned field_kind(const Json& value) {
  if (value.is_boolean()) return kBooleanField;
  if (value.is_number()) return kNumberField;
  if (value.is_string()) return kTextField;
  if (value.is_object()) return kObjectField;
  return value.is_array() ? unsigned{kArrayField} : 0U;
}

std::string kind_names(unsigned kinds) {
  std::string names;
  for (const auto& [bit, name] : kKindNames) {
    if ((kinds & bit) != 0) names.append(names.empty() ? "" : " or ").append(name);
  }
  return names;
}

bool asks_for_something(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  return value.is_number() || !(value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty());
}

// Calls `visit` with each value that stands at `path` in `value`. Where something else stands on the way there is
// nothing: who reads that complains of it.
void visit_at(const JsonReader& value, std::string_view path, const std::function<void(const JsonReader&)>& visit) {
  constexpr std::string_view kEach = "[]";
  if (path.starts_with('.')) path.remove_prefix(1);
  if (path.empty()) {
    visit(value);
  } else if (path.starts_with(kEach)) {
    const std::size_t elements = value.json().is_array() ? value.json().size() : 0;
    for (std::size_t i = 0; i < elements; ++i) visit_at(value.element(i), path.substr(kEach.size()), visit);
  } else if (value.json().is_object()) {
    const std::size_t name = std::min(path.find_first_of(".["), path.size());
    if (const auto member = value.find(path.substr(0, name))) visit_at(*member, path.substr(name), visit);
  }
}

// "messages[0].role" of "request.messages[0].role".
std::string field_of_path(const std::string& path) {
  const std::string prefix = std::string(kRequestName) + ".";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path == kRequestName ? "" : path;
}

}  // namespace

std::vector<std::string> check_fields(std::span<const Field> table, const JsonReader& request) {
  request.object();
  std::vector<std::string> ignored;
  for (const Field& field : table) {
    bool is_asked = false;
    visit_at(request, field.name, [&](const JsonReader& value) {
      if ((field_kind(value.json()) & field.kinds) == 0) value.wrong_type(kind_names(field.kinds));
      // An empty object switches some features on. So it asks for something where the field is refused; where the field
      // is only ignored, it is not worth being named.
      const bool switches_on = field.treatment == Treatment::kRefused && value.json().is_object();
      is_asked = is_asked || switches_on || asks_for_something(value.json());
    });
    if (!is_asked || field.treatment == Treatment::kHonoured) continue;
    if (field.treatment == Treatment::kRefused) throw TurnError::not_supported(field.name, field.note);
    ignored.emplace_back(field.name);
  }
  return ignored;
}

std::optional<JsonReader> required_member(const JsonReader& object, std::string_view name) {
  auto member = object.find(name);
  if (!member) throw InvalidParams(object.path_of(name), "missing");
  return member;
}

// Clients and proxies read headers of a few thousand bytes only.
std::string ignored_header(const std::vector<std::string>& fields) {
  constexpr std::size_t kMostBytes = 1000;
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (text.size() > kMostBytes) return text + ", and " + std::to_string(fields.size() - i) + " more";
    text += (text.empty() ? "" : ", ") + fields[i];
  }
  return text;
}

void read_request(const Json& request, const std::function<void(const JsonReader&)>& read) {
  try {
    read(JsonReader(request, kRequestName));
  } catch (const InvalidParams& error) {
    const auto path = error.data().at("path").get<std::string>();
    const std::string message = error.what();
    const std::size_t complaint = path.size() + 2;  // behind ": "
    throw TurnError::bad_field(field_of_path(path), complaint < message.size() ? message.substr(complaint) : message);
  }
}

std::string field_documentation(std::span<const Field> table) {
  std::string text = "| field | | |\n|---|---|---|\n";
  for (const Field& field : table) {
    const std::string_view treatment = field.treatment == Treatment::kHonoured  ? "honoured"
                                       : field.treatment == Treatment::kIgnored ? "ignored"
                                                                                : "refused";
    text.append("| `")
        .append(field.name)
        .append("` | ")
        .append(treatment)
        .append(" | ")
        .append(field.note)
        .append(" |\n");
  }
  return text;
}

}  // namespace rkllm_mcp::chat
