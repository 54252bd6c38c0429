// The schema of a settings file, and a file with the built-in values (table.hpp).
#include "settings/table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace rkllm_mcp {
namespace {

Json schema_of(const NamedField::Member& member) {
  static constexpr std::array<const char*, 6> kTypes{"string", "boolean", "object", "array", "object", "number"};
  Json schema{{"type", kTypes.at(static_cast<std::size_t>(member.kind))}, {"description", member.documentation}};
  if (member.kind == NamedField::Member::Kind::kTexts) schema["items"] = {{"type", "string"}};
  if (member.kind == NamedField::Member::Kind::kTextMap) schema["additionalProperties"] = {{"type", "string"}};
  if (!member.words.empty()) schema["enum"] = member.words;
  return schema;
}

Json schema_of_named(const NamedField& field) {
  Json properties = Json::object();
  for (const auto& member : field.members) properties[std::string(member.name)] = schema_of(member);
  Json schema{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  for (const std::string_view name : field.either) schema["oneOf"].push_back({{"required", {name}}});
  return schema;
}

struct TypeOf {
  Json operator()(const BoolField&) const { return {{"type", "boolean"}}; }
  Json operator()(const IntegerField& field) const {
    return {{"type", "integer"}, {"minimum", field.min}, {"maximum", field.max}};
  }
  Json operator()(const TextField& field) const {
    switch (field.form) {
      case TextField::Form::kIpAddress:
        return {{"type", "string"}, {"anyOf", {{{"format", "ipv4"}}, {{"format", "ipv6"}}}}};
      case TextField::Form::kFileMode: return {{"type", "string"}, {"pattern", "^0?[0-7]{3}$"}};
      case TextField::Form::kWebAddress: return {{"type", "string"}, {"pattern", "^[hH][tT][tT][pP][sS]?://"}};
      case TextField::Form::kWebAddressOrNone:
        return {{"type", "string"}, {"pattern", "^([hH][tT][tT][pP][sS]?://.*)?$"}};
      case TextField::Form::kAny: break;
    }
    return {{"type", "string"}};
  }
  Json operator()(const ChoiceField& field) const { return {{"type", "string"}, {"enum", field.words}}; }
  Json operator()(const ListField& field) const {
    Json items{{"type", "string"}};
    if (!field.words.empty()) items["enum"] = field.words;
    return {{"type", "array"}, {"items", std::move(items)}};
  }
  Json operator()(const NamedField& field) const {
    return {{"type", "object"}, {"additionalProperties", schema_of_named(field)}};
  }
  Json operator()(const TextMapField&) const {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }
};

Json schema_of(const Setting& setting, const Settings& built_in) {
  Json schema = std::visit(TypeOf{}, setting.field);
  std::string description(setting.documentation);
  if (setting.change == Change::kWhileRunning) description += " Can be changed while the server runs (SIGHUP).";
  schema["description"] = description;
  schema["default"] = value_of(setting, built_in);
  return schema;
}

std::string replaced(std::string_view text, char from, char to) {
  std::string copy(text);
  std::ranges::replace(copy, from, to);
  return copy;
}

// The schema of a section, made if it is not there: "tools.google" is within that of "tools".
Json& schema_of_section(Json& sections, std::string_view name) {
  Json* within = &sections;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    const std::size_t begin = end == 0 ? 0 : end + 1;
    end = name.find('.', begin);
    Json& section = (*within)[std::string(name.substr(begin, end == std::string_view::npos ? end : end - begin))];
    if (section.is_null()) {
      section = {{"type", "object"},
                 {"description", documentation_of_section(name.substr(0, end))},
                 {"properties", Json::object()},
                 {"additionalProperties", false}};
    }
    if (end == std::string_view::npos) return section;
    within = &section["properties"];
  }
  return *within;
}

}  // namespace

Json settings_schema() {
  const Settings built_in;
  Json sections = {{"$schema", {{"type", "string"}, {"description", "This schema."}}}};
  for (const Setting& setting : settings_table()) {
    if (setting.key.empty()) {
      sections[std::string(setting.section)] = schema_of(setting, built_in);
      continue;
    }
    schema_of_section(sections, setting.section)["properties"][std::string(setting.key)] = schema_of(setting, built_in);
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Settings of rkllm-mcp"},
          {"description",
           "Stronger than this file: variables such as RKLLM_MCP_HTTP_PORT, and --set http.port=… above them."},
          {"type", "object"},
          {"properties", sections},
          {"additionalProperties", false}};
}

Json default_settings_file() {
  const Settings built_in;
  Json file = {{"$schema", "./settings.schema.json"}};
  for (const Setting& setting : settings_table()) {
    Json& section = file[Json::json_pointer("/" + replaced(setting.section, '.', '/'))];
    (setting.key.empty() ? section : section[std::string(setting.key)]) = value_of(setting, built_in);
  }
  return file;
}

}  // namespace rkllm_mcp
