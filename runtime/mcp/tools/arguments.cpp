#include "mcp/tools/arguments.hpp"

#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace rkllm_mcp::mcp {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& complaint) {
  throw InvalidParams(path, complaint);
}

void check_text(const Json& schema, const std::string& path, const Json& value) {
  if (!value.is_string()) refuse(path, "expected string");
  const std::size_t length = characters_in(value.get_ref<const std::string&>());
  if (length < schema.value("minLength", std::size_t{0})) refuse(path, "is too short");
  if (schema.contains("maxLength") && length > schema["maxLength"].get<std::size_t>()) {
    refuse(path, "is longer than " + schema["maxLength"].dump() + " characters");
  }
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end()) {
    refuse(path, "expected one of " + schema["enum"].dump());
  }
}

Json checked_number(const Json& schema, const std::string& path, Json value, bool is_integer) {
  if (!value.is_number()) refuse(path, is_integer ? "expected integer" : "expected number");
  if (is_integer && value.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // from here on not every integer is a double
    const auto number = value.get<double>();
    if (std::trunc(number) != number || std::abs(number) >= kExact) refuse(path, "expected integer");
    value = static_cast<std::int64_t>(number);
  }
  if (schema.contains("minimum") && value < schema["minimum"]) refuse(path, "is less than " + schema["minimum"].dump());
  if (schema.contains("maximum") && value > schema["maximum"]) refuse(path, "is more than " + schema["maximum"].dump());
  return value;
}

Json checked_value(const Json& schema, const std::string& path, const Json& value) {
  const std::string type = schema.at("type").get<std::string>();
  if (type == "string") {
    check_text(schema, path, value);
  } else if (type == "integer" || type == "number") {
    return checked_number(schema, path, value, type == "integer");
  } else if (type == "boolean" && !value.is_boolean()) {
    refuse(path, "expected true or false");
  }
  return value;
}

}  // namespace

Json checked_arguments(const Json& schema, const Json& arguments) {
  Json checked = Json::object();
  if (!arguments.is_object()) refuse("params.arguments", "expected object");
  for (const auto& [name, property] : schema.at("properties").items()) {
    const auto given = arguments.find(name);
    const std::string path = "params.arguments." + name;
    if (given != arguments.end() && !given->is_null()) {
      checked[name] = checked_value(property, path, *given);
    } else if (property.contains("default")) {
      checked[name] = property["default"];
    }
  }
  if (!schema.contains("required")) return checked;
  for (const Json& name : schema["required"]) {
    if (!checked.contains(name.get<std::string>())) refuse("params.arguments." + name.get<std::string>(), "missing");
  }
  return checked;
}

}  // namespace rkllm_mcp::mcp
