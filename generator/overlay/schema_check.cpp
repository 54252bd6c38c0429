#include "overlay/schema_check.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <regex>
#include <stdexcept>
#include <string_view>

namespace bindgen {
namespace {

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& at) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) complain(at, "must not be given");
      return;
    }
    for (const auto& [keyword, rule] : schema.items()) check_keyword(keyword, rule, schema, value, at);
  }

  std::vector<SchemaViolation> found;

 private:
  void check_keyword(const std::string& keyword, const Json& rule, const Json& schema, const Json& value,
                     const std::string& at) {
    static constexpr std::string_view kAnnotations[] = {"$schema", "$defs", "title", "description",
                                                        "default", "then",  "else",  "contentEncoding"};
    if (std::find(std::begin(kAnnotations), std::end(kAnnotations), keyword) != std::end(kAnnotations)) return;
    if (keyword == "$ref") return check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at);
    if (keyword == "type") return check_type(rule, value, at);
    if (keyword == "enum") return check_enum(rule, value, at);
    if (keyword == "const") return check_enum(Json::array({rule}), value, at);
    if (keyword == "required") return check_required(rule, value, at);
    if (keyword == "properties") return check_properties(rule, value, at);
    if (keyword == "propertyNames") return check_names(rule, value, at);
    if (keyword == "additionalProperties") return check_additional(rule, schema, value, at);
    if (keyword == "items") return check_items(rule, value, at);
    if (keyword == "minLength") return check_min_length(rule, value, at);
    if (keyword == "minimum") return check_minimum(rule, value, at);
    if (keyword == "maximum") return check_maximum(rule, value, at);
    if (keyword == "minItems") return check_min_items(rule, value, at);
    if (keyword == "maxItems") return check_max_items(rule, value, at);
    if (keyword == "maxLength") return check_max_length(rule, value, at);
    if (keyword == "pattern") return check_pattern(rule, value, at);
    if (keyword == "oneOf") return check_choice(rule, value, at, 1);
    if (keyword == "anyOf") return check_choice(rule, value, at, std::ssize(rule));
    if (keyword == "allOf") return check_all(rule, value, at);
    if (keyword == "not") return check_not(rule, value, at);
    if (keyword == "dependentRequired") return check_dependent(rule, value, at);
    if (keyword == "if") return check_condition(rule, schema, value, at);
    throw std::logic_error("the schema uses a keyword that is not checked: " + keyword);
  }

  void check_type(const Json& rule, const Json& value, const std::string& at) {
    const Json types = rule.is_array() ? rule : Json::array({rule});
    for (const Json& type : types) {
      if (is_a(value, type.get<std::string>())) return;
    }
    complain(at, "expected " + rule.dump() + ", found " + value.type_name());
  }

  static bool is_a(const Json& value, const std::string& type) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  void check_enum(const Json& rule, const Json& value, const std::string& at) {
    if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
      complain(at, "expected one of " + rule.dump() + ", found " + value.dump());
    }
  }

  void check_required(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_object()) return;
    for (const Json& name : rule) {
      if (!value.contains(name.get<std::string>())) complain(at, "\"" + name.get<std::string>() + "\" is missing");
    }
  }

  void check_properties(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      if (rule.contains(name)) check(rule.at(name), member, at + "/" + name);
    }
  }

  void check_names(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_object()) return;
    for (const auto& member : value.items()) check(rule, member.key(), at + "/" + member.key());
  }

  void check_additional(const Json& rule, const Json& schema, const Json& value, const std::string& at) {
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
      if (schema.contains("properties") && schema.at("properties").contains(name)) continue;
      if (rule.is_object()) check(rule, member, at + "/" + name);
      if (rule.is_boolean() && !rule.get<bool>()) complain(at, "unknown key \"" + name + "\"");
    }
  }

  void check_items(const Json& rule, const Json& value, const std::string& at) {
    if (!value.is_array()) return;
    for (std::size_t i = 0; i < value.size(); ++i) check(rule, value[i], at + "/" + std::to_string(i));
  }

  void check_min_length(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_string() && value.get<std::string>().size() < rule.get<std::size_t>()) complain(at, "is empty");
  }

  void check_minimum(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_number() && value.get<double>() < rule.get<double>())
      complain(at, "expected " + rule.dump() + " or more");
  }

  void check_maximum(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_number() && value.get<double>() > rule.get<double>())
      complain(at, "expected " + rule.dump() + " or less");
  }

  void check_min_items(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_array() && value.size() < rule.get<std::size_t>()) complain(at, "expected more items");
  }

  void check_max_items(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_array() && value.size() > rule.get<std::size_t>()) complain(at, "expected fewer items");
  }

  void check_max_length(const Json& rule, const Json& value, const std::string& at) {
    if (value.is_string() && value.get<std::string>().size() > rule.get<std::size_t>()) complain(at, "is too long");
  }

  void check_pattern(const std::string& rule, const Json& value, const std::string& at) {
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    constexpr std::size_t kLongest = 1000;  // std::regex calls itself for each character
    if (text.size() <= kLongest && std::regex_search(text, std::regex(rule))) return;
    complain(at, "expected a string of at most 1000 characters that matches " + rule);
  }

  // ---- Schemas that are made of others.

  bool is_valid(const Json& schema, const Json& value) const {
    Validator inner(root_);
    inner.check(schema, value, "");
    return inner.found.empty();
  }

  void check_all(const Json& rule, const Json& value, const std::string& at) {
    for (const Json& one : rule) check(one, value, at);
  }

  void check_choice(const Json& rule, const Json& value, const std::string& at, std::ptrdiff_t most) {
    const auto fitting = std::count_if(rule.begin(), rule.end(), [&](const Json& one) { return is_valid(one, value); });
    if (fitting >= 1 && fitting <= most) return;
    const auto asks = [](const Json& one) { return one.size() == 1 && one.contains("required"); };
    if (most == 1 && std::all_of(rule.begin(), rule.end(), asks)) {
      std::string names;
      for (const Json& one : rule) names += (names.empty() ? "" : ", ") + one.at("required").at(0).dump();
      return complain(at, "exactly one is needed of " + names);
    }
    complain(at, std::to_string(fitting) + " of " + std::to_string(rule.size()) + " alternatives fit");
  }

  void check_not(const Json& rule, const Json& value, const std::string& at) {
    if (!is_valid(rule, value)) return;
    complain(at, rule.contains("required") ? "must not have all of " + rule.at("required").dump() : "must not be so");
  }

  void check_dependent(const Json& rule, const Json& value, const std::string& at) {
    for (const auto& [name, others] : rule.items()) {
      if (value.contains(name)) check_required(others, value, at);
    }
  }

  void check_condition(const Json& condition, const Json& schema, const Json& value, const std::string& at) {
    const char* const branch = is_valid(condition, value) ? "then" : "else";
    if (schema.contains(branch)) check(schema.at(branch), value, at);
  }

  void complain(const std::string& at, std::string message) { found.push_back({at, std::move(message)}); }

  const Json& root_;
};

}  // namespace

std::vector<SchemaViolation> violations(const Json& schema, const Json& document) {
  Validator validator(schema);
  validator.check(schema, document, "");
  return std::move(validator.found);
}

}  // namespace bindgen
