// The short schemas that lists of tools show (method_schema.hpp).
#include "emit/method_schema.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace bindgen {
namespace {

// A bound that the C type has set, not a person: integers of 31 bits and more, the largest float.
bool is_of_type(const Json& bound) {
  constexpr double kLeast = 2147483647.0;
  return std::abs(bound.get<double>()) >= kLeast;
}

std::string first_type(const Json& schema) {
  if (schema.contains("const") || schema.contains("enum")) {
    const Json& value = schema.contains("const") ? schema.at("const") : schema.at("enum").front();
    return value.is_string() ? "string" : "integer";
  }
  const Json& type = schema.at("type");
  return type.is_array() ? type.front().get<std::string>() : type.get<std::string>();
}

// Hosts take one type.
bool is_of_one_type(const Json& schema) {
  if (schema.contains("oneOf") || schema.contains("anyOf")) return false;
  if (schema.contains("enum")) {
    const Json& values = schema.at("enum");
    return std::all_of(values.begin(), values.end(),
                       [&](const Json& each) { return each.is_string() == values.front().is_string(); });
  }
  return !schema.contains("type") || !schema.at("type").is_array();
}

Json names_of(const Json& values) {
  Json names = Json::array();
  for (const Json& value : values) {
    if (value.is_string()) names.push_back(value);
  }
  return names;
}

class ToolSchema {
 public:
  explicit ToolSchema(const Json& root) : root_(root) {}

  Json reduced(const Json& schema) const {
    if (schema.contains("oneOf")) return alternative(schema.at("oneOf").front(), schema);
    if (schema.contains("$ref")) return alternative(target_of(schema.at("$ref").get<std::string>()), schema);
    const std::string type = first_type(schema);
    Json result{{"type", type}};
    const auto copy = [&](const char* key) {
      if (schema.contains(key)) result[key] = schema.at(key);
    };
    copy("description");
    if (schema.contains("enum")) result["enum"] = names_of(schema.at("enum"));
    for (const char* bound : {"minimum", "maximum"}) {
      if (schema.contains(bound) && !is_of_type(schema.at(bound))) result[bound] = schema.at(bound);
    }
    copy("default");
    copy("deprecated");
    if (type == "array") result["items"] = reduced(schema.at("items"));
    if (type == "object") add_members(result, schema);
    return result;
  }

 private:
  // One of several schemas, described as all of them are.
  Json alternative(Json chosen, const Json& schema) const {
    if (schema.contains("description")) chosen["description"] = schema.at("description");
    return reduced(chosen);
  }

  const Json& target_of(const std::string& reference) const {
    return root_.at(Json::json_pointer(reference.substr(1)));
  }

  void add_members(Json& result, const Json& schema) const {
    if (!schema.contains("properties")) return;  // they depend on another member
    result["properties"] = Json::object();
    for (const auto& [name, member] : schema.at("properties").items()) result["properties"][name] = reduced(member);
    if (schema.contains("required")) result["required"] = schema.at("required");
  }

  const Json& root_;
};

}  // namespace

Json tool_input_schema(const Api& api, const c::Function& function) {
  const Json full = input_schema(api, function, Wording::kBrief);
  Json result = ToolSchema(full).reduced(full);
  result["additionalProperties"] = false;
  return result;
}

Json tool_output_schema(const Api& api, const c::Function& function) {
  const Json full = output_schema(api, function);
  Json result{{"type", "object"}, {"properties", Json::object()}};
  for (const auto& [name, member] : full.at("properties").items()) {
    if (member.contains("type") && member.at("type").is_array()) continue;  // of several types: hosts take one
    const std::string type = first_type(member);
    if (type == "null") continue;
    result["properties"][name]["type"] = type;
    if (type == "array" && is_of_one_type(member.at("items")))
      result["properties"][name]["items"]["type"] = first_type(member.at("items"));
    if (member.contains("deprecated")) result["properties"][name]["deprecated"] = true;
  }
  for (const Json& name : full.value("required", Json::array())) {
    if (result["properties"].contains(name.get<std::string>())) result["required"].push_back(name);
  }
  return result;
}

}  // namespace bindgen
