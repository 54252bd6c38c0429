// What the schemas of inputs and outputs are put together from (method_schema.hpp).
#include "emit/method_schema.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace bindgen {

Json empty_object_schema() {
  return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
}

void add_property(Json& object, const std::string& name, Json schema, const std::string& description,
                  bool is_required) {
  if (!description.empty()) schema["description"] = description;
  object["properties"][name] = std::move(schema);
  if (is_required) object["required"].push_back(name);
}

void allow_null(Json& schema) {
  Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
  types.push_back("null");
  schema["type"] = std::move(types);
}

Json integer_schema(const c::Type& type, std::optional<double> minimum, std::optional<double> maximum) {
  const bool is_signed = type.kind == c::TypeKind::kSigned;
  const unsigned bits = static_cast<unsigned>(type.size.on_64_bit * 8);
  Json schema{{"type", "integer"}};
  if (minimum) {
    schema["minimum"] = static_cast<std::int64_t>(*minimum);
  } else {
    schema["minimum"] = is_signed ? std::numeric_limits<std::int64_t>::min() >> (64 - bits) : 0;
  }
  if (maximum) {
    schema["maximum"] = static_cast<std::int64_t>(*maximum);
  } else {
    schema["maximum"] = std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed ? 1U : 0U));
  }
  return schema;
}

Json number_schema(const c::Type& type, std::optional<double> minimum, std::optional<double> maximum) {
  constexpr double kMost = 3.4028235e38;       // the largest float, in as few digits as stand for it
  constexpr double kWhole = 9007199254740992;  // up to which a whole number is told without a point
  const auto bound = [&](double value) {
    const bool is_whole = std::abs(value) <= kWhole && std::trunc(value) == value;
    return is_whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
  };
  Json schema{{"type", "number"}};
  if (type.kind == c::TypeKind::kFloat) {
    minimum = minimum.value_or(-kMost);
    maximum = maximum.value_or(kMost);
  }
  if (minimum) schema["minimum"] = bound(*minimum);
  if (maximum) schema["maximum"] = bound(*maximum);
  return schema;
}

Json enum_schema(const Api& api, const std::string& name) {
  const c::Enum* entity = c::find<c::Enum>(api.header, name);
  Json names = Json::array();
  for (const c::Enumerator& enumerator : entity->enumerators) names.push_back(enumerator.name);
  for (const c::Enumerator& enumerator : entity->enumerators) {
    const bool is_there = std::find(names.begin(), names.end(), Json(enumerator.value)) != names.end();
    if (!is_there) names.push_back(enumerator.value);  // two names may have one value
  }
  return {{"enum", std::move(names)}};
}

Json returned_enum_schema(const Api& api, const std::string& name) {
  Json names = Json::array();
  std::set<std::int64_t> told;
  for (const c::Enumerator& enumerator : c::find<c::Enum>(api.header, name)->enumerators) {
    if (told.insert(enumerator.value).second) names.push_back(enumerator.name);
  }
  return {{"type", {"string", "integer"}}, {"anyOf", {{{"enum", std::move(names)}}, {{"type", "integer"}}}}};
}

std::string enum_documentation(const Api& api, const std::string& name) {
  std::string text;
  for (const c::Enumerator& enumerator : c::find<c::Enum>(api.header, name)->enumerators) {
    text += (text.empty() ? "" : " ") + enumerator.name + " (" + std::to_string(enumerator.value) +
            "): " + enumerator.documentation.text;
  }
  return text;
}

bool is_text_in_place(const c::Type& element) {
  return element.kind == c::TypeKind::kArray && element.target.front().kind == c::TypeKind::kCharacter;
}

bool can_be_packed(const c::Type& element) {
  return element.kind == c::TypeKind::kFloat || element.kind == c::TypeKind::kCharacter ||
         element.kind == c::TypeKind::kVoid;
}

Json packed_array_schema(const c::Type& element, bool is_result) {
  const bool are_floats = element.kind == c::TypeKind::kFloat;
  Json item = are_floats ? number_schema(element) : Json{{"type", "integer"}, {"minimum", 0}, {"maximum", 255}};
  if (are_floats && is_result) item = {{"type", {"number", "null"}}};
  Json schema{{"type", {"array", "object"}}, {"items", std::move(item)}};
  if (!is_result) schema["minItems"] = 1;
  Json base64{{"type", "string"}, {"contentEncoding", "base64"}};
  // Whole values of 4 bytes or of 1, at least one, with no bits behind the end: what the decoder takes.
  if (!is_result) {
    base64["pattern"] = are_floats ? "^(?:[A-Za-z0-9+/]{16})*(?:[A-Za-z0-9+/]{5}[AQgw]==|[A-Za-z0-9+/]{10}"
                                     "[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{16})$"
                                   : "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}"
                                     "[AEIMQUYcgkosw048]=|[A-Za-z0-9+/]{4})$";
  }
  schema["properties"] = {{"base64", std::move(base64)}, {"dtype", {{"const", are_floats ? "float32" : "uint8"}}}};
  schema["required"] = {"base64", "dtype"};
  schema["additionalProperties"] = false;
  return schema;
}

NamedRecord record_of(const Api& api, const Part& part) {
  const bool is_of_it = part.type->kind == c::TypeKind::kPointer || part.type->kind == c::TypeKind::kArray;
  const c::Type& type = is_of_it ? part.type->target.front() : *part.type;
  if (type.name.empty()) return {part.path, cpp_name_of(type, part.path), &part.field->inline_record.front()};
  return {type.name, type.name, c::find<c::Record>(api.header, type.name)};
}

}  // namespace bindgen
