#include "json_schema.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace bindgen {
namespace {

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  void check(const Json& schema, const Json& value, const std::string& at) {
    for (const auto& [keyword, rule] : schema.items()) check_keyword(keyword, rule, schema, value, at);
  }

  std::vector<SchemaViolation> found;

 private:
  void check_keyword(const std::string& keyword, const Json& rule, const Json& schema, const Json& value,
                     const std::string& at) {
    static constexpr std::string_view kAnnotations[] = {"$schema", "$defs", "title", "description"};
    if (std::find(std::begin(kAnnotations), std::end(kAnnotations), keyword) != std::end(kAnnotations)) return;
    if (keyword == "$ref") return check(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at);
    if (keyword == "type") return check_type(rule, value, at);
    if (keyword == "enum") return check_enum(rule, value, at);
    if (keyword == "required") return check_required(rule, value, at);
    if (keyword == "properties") return check_properties(rule, value, at);
    if (keyword == "additionalProperties") return check_additional(rule, schema, value, at);
    if (keyword == "items") return check_items(rule, value, at);
    if (keyword == "minLength") return check_min_length(rule, value, at);
    if (keyword == "minimum") return check_minimum(rule, value, at);
    if (keyword == "pattern") return check_pattern(rule, value, at);
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

  // Patterns say how a string begins: "^session[.]".
  void check_pattern(const Json& rule, const Json& value, const std::string& at) {
    std::string beginning = rule.get<std::string>();
    const auto dot = beginning.find("[.]");
    if (dot != std::string::npos) beginning.replace(dot, 3, ".");
    if (beginning.front() != '^' || beginning.find_first_of("[](){}*+?|\\$") != std::string::npos) {
      throw std::logic_error("the schema uses a pattern that is not understood: " + beginning);
    }
    beginning.erase(0, 1);
    if (!value.is_string() || value.get<std::string>().rfind(beginning, 0) == 0) return;
    complain(at, "expected a string that begins with \"" + beginning + "\"");
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
