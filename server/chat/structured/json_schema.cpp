#include "chat/structured/json_schema.hpp"

#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kStepsOfPattern = 500;
constexpr std::size_t kMostPatternSteps = 1'000'000;  // of all patterns

std::string names_of(unsigned types) {
  std::string names;
  for (const auto& [bit, name] : {std::pair{kNullType, "null"},
                                  {kBooleanType, "boolean"},
                                  {kObjectType, "object"},
                                  {kArrayType, "array"},
                                  {kNumberType, "number"},
                                  {kIntegerType, "integer"},
                                  {kStringType, "string"}}) {
    if ((types & bit) != 0) names += (names.empty() ? "" : " or ") + std::string(name);
  }
  return names;
}

// Holds a whole value against a schema.
class SchemaMatch {
 public:
  explicit SchemaMatch(const std::vector<SchemaNode>& nodes) : nodes_(nodes) {}

  std::optional<std::string> whole_complaint(const Json& value) {
    auto found = complaint(0, value, "$");
    // A check that was given up tells neither that the value fits, nor why it does not.
    if (is_over()) return "this value takes too many steps to be held against the schema, or lies too deep in it";
    return found;
  }

 private:
  // Counts how deep the match is in itself.
  class MatchDepth {
   public:
    explicit MatchDepth(SchemaMatch& match) : match_(match) {
      if (++match_.depth_ > kDeepestMatch) match_.give_up();
    }
    MatchDepth(const MatchDepth&) = delete;
    MatchDepth& operator=(const MatchDepth&) = delete;
    ~MatchDepth() { --match_.depth_; }

   private:
    SchemaMatch& match_;
  };

  bool is_over() const { return steps_ > kMostMatchSteps; }
  void give_up() { steps_ = kMostMatchSteps + 1; }
  // Takes so many steps; false if fewer are left.
  bool take_steps(std::size_t steps) {
    if (is_over() || steps > kMostMatchSteps - steps_) give_up();
    if (is_over()) return false;
    steps_ += steps;
    return true;
  }

  std::optional<std::string> complaint(std::size_t index, const Json& value, const std::string& path) {
    const MatchDepth depth(*this);
    const SchemaNode& node = nodes_[index];
    if (!take_steps(1 + node.allowed_steps)) return path;
    if (node.forbidden) return path + ": nothing is allowed here";
    if ((types_of(value) & node.types) == 0) return path + ": expected " + names_of(node.types);
    if (node.allowed && std::ranges::find(*node.allowed, value) == node.allowed->end()) {
      return path + ": expected one of the values of enum or const";
    }
    if (value.is_number() && !fits_bounds(node, value.get<double>())) return path + ": the number is out of bounds";
    if (value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      if (!take_steps(steps_of_bytes(text.size()))) return path;
      if (!fits_length(node, text)) return path + ": wrong length of string";
      if (auto found = pattern_complaint(node, value, path)) return found;
    }
    if (value.is_object()) {
      if (auto found = object_complaint(node, value, path)) return found;
    }
    if (value.is_array()) {
      if (auto found = array_complaint(node, value, path)) return found;
    }
    return group_complaint(node, value, path);
  }

  std::optional<std::string> pattern_complaint(const SchemaNode& node, const Json& value, const std::string& path) {
    if (!node.pattern) return std::nullopt;
    if (!take_steps(kStepsOfPattern)) return path;
    const auto match = node.pattern->find_in(value.get_ref<const std::string&>(), pattern_steps_);
    if (match == SchemaPattern::Match::kFound) return std::nullopt;
    if (match == SchemaPattern::Match::kTooHard) give_up();
    return path + ": does not fit the pattern";
  }

  std::optional<std::string> object_complaint(const SchemaNode& node, const Json& value, const std::string& path) {
    if (!take_steps(value.size())) return path;
    if (const auto missing = missing_in(value, node.required)) return path + "." + shortened(*missing) + ": missing";
    if (value.size() < node.min_properties || value.size() > node.max_properties.value_or(value.size())) {
      return path + ": wrong number of properties";
    }
    for (const auto& [name, member] : value.items()) {
      const auto known = node.properties.find(name);
      const std::string at = path + "." + shortened(name);
      if (node.property_names) {
        if (auto found = complaint(*node.property_names, name, at + " (its name)")) return found;
      }
      if (known == node.properties.end() && !node.allows_more_properties) return at + ": not allowed";
      const auto fits = known != node.properties.end() ? std::optional(known->second) : node.more_properties;
      if (!fits) continue;
      if (auto found = complaint(*fits, member, at)) return found;
    }
    return std::nullopt;
  }

  // The names are sorted, as a search in the object (a list) for each one is slow where both are long.
  static std::optional<std::string> missing_in(const Json& object, const std::set<std::string, std::less<>>& required) {
    if (required.empty()) return std::nullopt;
    std::vector<std::string_view> names;
    names.reserve(object.size());
    for (const auto& [name, member] : object.items()) names.emplace_back(name);
    std::ranges::sort(names);
    const auto is_missing = [&names](const std::string& name) { return !std::ranges::binary_search(names, name); };
    const auto missing = std::ranges::find_if(required, is_missing);
    return missing == required.end() ? std::nullopt : std::optional(*missing);
  }

  std::optional<std::string> array_complaint(const SchemaNode& node, const Json& value, const std::string& path) {
    if (!take_steps(value.size())) return path;
    if (value.size() < node.min_items || value.size() > node.max_items.value_or(value.size())) {
      return path + ": wrong number of items";
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      const bool is_first = i < node.first_items.size();
      if (!is_first && !node.allows_more_items) return at + ": not allowed";
      const auto fits = is_first ? std::optional(node.first_items[i]) : node.items;
      if (!fits) continue;
      if (auto found = complaint(*fits, value[i], at)) return found;
    }
    return std::nullopt;
  }

  std::optional<std::string> group_complaint(const SchemaNode& node, const Json& value, const std::string& path) {
    for (const auto& [kind, alternatives] : node.groups) {
      std::size_t fitting = 0;
      std::optional<std::string> last;
      for (const std::size_t alternative : alternatives) {
        if (auto found = complaint(alternative, value, path)) {
          if (is_over()) return path;
          last = std::move(found);
        } else {
          ++fitting;
        }
        if (kind == SchemaNode::Group::kAny && fitting > 0) break;
      }
      const bool is_wrong = kind == SchemaNode::Group::kAll   ? fitting < alternatives.size()
                            : kind == SchemaNode::Group::kOne ? fitting != 1
                                                              : fitting == 0;
      if (is_wrong) return last && kind != SchemaNode::Group::kOne ? *last : path + ": fits none, or several, of oneOf";
    }
    return std::nullopt;
  }

  const std::vector<SchemaNode>& nodes_;
  std::size_t pattern_steps_ = kMostPatternSteps;  // that are left
  std::size_t steps_ = 0;
  std::size_t depth_ = 0;
};

}  // namespace

JsonSchema JsonSchema::any_object() {
  JsonSchema schema;
  schema.nodes_.emplace_back();
  schema.nodes_.front().types = kObjectType;
  return schema;
}

std::optional<std::string> JsonSchema::complaint(const Json& value) const {
  return SchemaMatch(nodes_).whole_complaint(value);
}

unsigned types_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null: return kNullType;
    case Json::value_t::boolean: return kBooleanType;
    case Json::value_t::object: return kObjectType;
    case Json::value_t::array: return kArrayType;
    case Json::value_t::string: return kStringType;
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned: return kNumberType | kIntegerType;
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      return std::trunc(number) == number ? kNumberType | kIntegerType : unsigned{kNumberType};
    }
    case Json::value_t::binary:
    case Json::value_t::discarded: break;
  }
  return 0;
}

bool fits_bounds(const SchemaNode& node, double number) {
  if (node.minimum && number < *node.minimum) return false;
  if (node.maximum && number > *node.maximum) return false;
  if (node.above && number <= *node.above) return false;
  if (node.below && number >= *node.below) return false;
  if (!node.multiple_of) return true;
  const double quotient = number / *node.multiple_of;
  constexpr double kRounding = 1e-9;  // 0.3 is a multiple of 0.1, whatever the division says
  return std::abs(quotient - std::round(quotient)) <= kRounding * std::max(1.0, std::abs(quotient));
}

bool fits_length(const SchemaNode& node, const std::string& text) {
  if (node.min_length == 0 && !node.max_length) return true;
  const std::size_t length = characters_in(text);
  return length >= node.min_length && length <= node.max_length.value_or(length);
}

}  // namespace rkllm_mcp::chat
