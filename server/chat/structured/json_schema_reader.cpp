#include "chat/structured/json_schema.hpp"

#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <stdexcept>

// Reading a schema: JSON to nodes. What is made of them is in json_schema.cpp.
namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostSchemaNodes = 2000;
constexpr std::size_t kDeepestGroups = 64;         // groups within groups, of one value
constexpr std::size_t kMostPatternBytes = 16'384;  // of all patterns, which are compiled on the event loop

// The values with which a keyword that cannot be checked is allowed, since with them it asks for nothing.
enum class Harmless { kNever, kFalse, kTrue, kBoth };

struct UncheckedKeyword {
  std::string_view name;
  Harmless harmless;
};

constexpr std::array kUncheckedKeywords = {
    UncheckedKeyword{"not", Harmless::kFalse},
    UncheckedKeyword{"if", Harmless::kBoth},  // without `then` and `else`, which are looked at themselves
    UncheckedKeyword{"then", Harmless::kTrue},
    UncheckedKeyword{"else", Harmless::kTrue},
    UncheckedKeyword{"dependentRequired", Harmless::kNever},
    UncheckedKeyword{"dependentSchemas", Harmless::kNever},
    UncheckedKeyword{"dependencies", Harmless::kNever},
    UncheckedKeyword{"patternProperties", Harmless::kNever},
    UncheckedKeyword{"contains", Harmless::kNever},
    UncheckedKeyword{"minContains", Harmless::kNever},
    UncheckedKeyword{"maxContains", Harmless::kNever},
    UncheckedKeyword{"uniqueItems", Harmless::kFalse},
    UncheckedKeyword{"unevaluatedProperties", Harmless::kTrue},
    UncheckedKeyword{"unevaluatedItems", Harmless::kTrue},
    UncheckedKeyword{"$dynamicRef", Harmless::kNever},
    UncheckedKeyword{"$recursiveRef", Harmless::kNever}};

bool asks_for_nothing(const UncheckedKeyword& keyword, const Json& value) {
  if (!value.is_boolean() || keyword.harmless == Harmless::kNever) return false;
  return keyword.harmless == Harmless::kBoth || value.get<bool>() == (keyword.harmless == Harmless::kTrue);
}

// How many values `value` has, all inside it included, with their texts.
std::size_t comparisons_with(const Json& value) {
  if (value.is_string()) return 1 + steps_of_bytes(value.get_ref<const std::string&>().size());
  std::size_t count = 1;
  if (!value.is_structured()) return count;
  for (const auto& [name, inner] : value.items()) count += comparisons_with(inner) + steps_of_bytes(name.size());
  return count;
}

std::size_t steps_of_values(const std::vector<Json>& values) {
  constexpr std::size_t kComparisonsOfStep = 16;
  std::size_t count = 0;
  for (const Json& value : values) count += comparisons_with(value);
  return count / kComparisonsOfStep;
}

// Builds the nodes of one schema, one for each place of it, so that a schema may name itself. Places that $ref names
// are built behind what names them, not within: they may be a long chain.
class SchemaBuilder {
 public:
  SchemaBuilder(const Json& whole, std::string_view field, std::vector<SchemaNode>& nodes)
      : whole_(whole), field_(field), nodes_(nodes) {}

  void build_all() {
    build(whole_, field_);
    while (!references_.empty()) {
      const Reference reference = std::move(references_.front());
      references_.pop_front();
      const std::size_t target = build(place_of(reference), path_of_place(reference.pointer));
      nodes_[reference.from].groups.emplace_back(SchemaNode::Group::kAll, std::vector{target});
      if (reference.is_all) leads_to_.emplace(reference.from, target);
    }
    skip_what_only_refers();
    refuse_deep_groups();
  }

 private:
  struct Reference {
    std::size_t from;
    std::string pointer;
    std::string path;  // of the $ref
    bool is_all;       // `from` says nothing else
  };

  const Json& place_of(const Reference& reference) {
    const Json* place = &whole_;
    try {
      std::vector<std::string> names;
      for (Json::json_pointer rest(reference.pointer); !rest.empty(); rest.pop_back()) names.push_back(rest.back());
      for (auto name = names.rbegin(); place != nullptr && name != names.rend(); ++name) {
        place = place->is_object() ? member_of(*place, *name) : &place->at(Json::json_pointer() / *name);
      }
    } catch (const Json::exception&) {
      place = nullptr;
    }
    if (place == nullptr) throw TurnError::bad_field(reference.path, "names a place that the schema does not have");
    return *place;
  }

  // Keeps an index of names: a Json object is a list, too slow to be searched for each $ref of a large schema.
  const Json* member_of(const Json& object, const std::string& name) {
    const auto [known, is_new] = members_.try_emplace(&object);
    if (is_new) {
      for (const auto& [each, member] : object.items()) known->second.emplace(each, &member);
    }
    const auto found = known->second.find(name);
    return found == known->second.end() ? nullptr : found->second;
  }

  std::string path_of_place(const std::string& pointer) const {
    std::string path = shortened(pointer);
    std::ranges::replace(path, '/', '.');
    return field_ + path;
  }

  // If a place only refers to another, whatever refers to it is made to refer to that other one: this saves steps.
  void skip_what_only_refers() {
    for (SchemaNode& node : nodes_) {
      for (auto& [name, index] : node.properties) skip(index);
      for (std::size_t& index : node.first_items) skip(index);
      for (auto* const index : {&node.more_properties, &node.property_names, &node.items}) {
        if (*index) skip(**index);
      }
      for (auto& [kind, alternatives] : node.groups) {
        for (std::size_t& index : alternatives) skip(index);
      }
    }
  }
  void skip(std::size_t& index) {
    std::vector<std::size_t*> passed;
    for (auto next = leads_to_.find(index); next != leads_to_.end(); next = leads_to_.find(index)) {
      if (passed.size() > leads_to_.size()) refuse_circle();
      passed.push_back(&next->second);
      index = next->second;
    }
    for (std::size_t* const each : passed) *each = index;  // so a chain is not followed again from each place in it
  }

  [[noreturn]] void refuse_circle() const { throw TurnError::bad_field(field_, "the schema names itself without end"); }

  // A group (anyOf, oneOf, allOf, $ref) holds the same value against further places of the schema. Refused are too many
  // of them inside of each other, and a place that comes back to itself in this way: the check of a value would never
  // end.
  void refuse_deep_groups() {
    std::vector<std::size_t> heights(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) height_of_groups(i, heights, 0);
  }

  std::size_t height_of_groups(std::size_t index, std::vector<std::size_t>& heights, std::size_t depth) const {
    constexpr std::size_t kOpen = std::numeric_limits<std::size_t>::max();
    std::size_t& height = heights[index];
    if (height == kOpen) refuse_circle();
    if (height == 0 && depth <= kDeepestGroups) {
      height = kOpen;
      std::size_t highest = 0;
      for (const auto& [kind, alternatives] : nodes_[index].groups) {
        for (const std::size_t alternative : alternatives) {
          highest = std::max(highest, height_of_groups(alternative, heights, depth + 1));
        }
      }
      height = highest + 1;
    }
    if (depth > kDeepestGroups || height > kDeepestGroups + 1) {
      throw TurnError::bad_field(field_, "anyOf, oneOf, allOf and $ref are nested too deeply");
    }
    return height;
  }

  std::size_t build(const Json& schema, const std::string& path) {
    if (const auto known = built_.find(&schema); known != built_.end()) return known->second;
    if (nodes_.size() >= kMostSchemaNodes) throw TurnError::bad_field(path, "the schema has too many parts");
    const std::size_t index = nodes_.size();
    built_.emplace(&schema, index);
    nodes_.emplace_back();
    SchemaNode node;  // nodes_ may move meanwhile
    if (schema.is_boolean()) {
      node.forbidden = !schema.get<bool>();
    } else {
      const JsonReader reader(schema, path);
      reader.object();
      read_keywords(reader, path, node);
      if (const auto reference = reader.find("$ref")) read_reference(*reference, index, schema.size() == 1);
    }
    nodes_[index] = std::move(node);
    return index;
  }

  void read_keywords(const JsonReader& schema, const std::string& path, SchemaNode& node) {
    for (const UncheckedKeyword& keyword : kUncheckedKeywords) {
      const auto found = schema.find(keyword.name);
      if (found && !asks_for_nothing(keyword, found->json())) {
        throw TurnError::not_supported(path + "." + std::string(keyword.name), "this keyword cannot be checked here");
      }
    }
    if (const auto type = schema.find("type")) node.types = read_types(*type);
    if (const auto values = schema.find("enum")) {
      node.allowed = std::vector<Json>(values->array().begin(), values->array().end());
    }
    const auto constant = schema.json().find("const");  // which may be null
    if (constant != schema.json().end()) node.allowed = std::vector<Json>{*constant};
    if (node.allowed) node.allowed_steps = steps_of_values(*node.allowed);
    read_object_keywords(schema, path, node);
    read_array_keywords(schema, path, node);
    node.min_length = count(schema, "minLength").value_or(0);
    node.max_length = count(schema, "maxLength");
    if (const auto pattern = schema.find("pattern")) node.pattern = read_pattern(*pattern);
    node.minimum = limit(schema, "minimum");
    node.maximum = limit(schema, "maximum");
    node.above = limit(schema, "exclusiveMinimum");
    node.below = limit(schema, "exclusiveMaximum");
    node.multiple_of = limit(schema, "multipleOf");
    if (node.multiple_of && *node.multiple_of <= 0)
      throw TurnError::bad_field(path + ".multipleOf", "expected more than 0");
    read_group(schema, "anyOf", SchemaNode::Group::kAny, path, node);
    read_group(schema, "oneOf", SchemaNode::Group::kOne, path, node);
    read_group(schema, "allOf", SchemaNode::Group::kAll, path, node);
  }

  void read_reference(const JsonReader& reference, std::size_t from, bool is_all) {
    const std::string& target = reference.text();
    if (!target.starts_with('#')) {
      throw TurnError::not_supported(reference.path(),
                                     "only places in the schema itself can be named: \"#/$defs/...\"");
    }
    references_.push_back({from, target.substr(1), reference.path(), is_all});
  }

  void read_object_keywords(const JsonReader& schema, const std::string& path, SchemaNode& node) {
    if (const auto properties = schema.find("properties")) {
      for (const auto& [name, value] : properties->object().items()) {
        node.properties.emplace(name, build(value, path + ".properties." + shortened(name)));
      }
    }
    if (const auto required = schema.find("required")) {
      for (std::size_t i = 0; i < required->array().size(); ++i) node.required.insert(required->element(i).text());
    }
    if (const auto more = schema.find("additionalProperties")) {
      if (more->json().is_boolean()) {
        node.allows_more_properties = more->boolean();
      } else {
        node.more_properties = build(more->json(), path + ".additionalProperties");
      }
    }
    if (const auto names = schema.find("propertyNames")) {
      node.property_names = build(names->json(), path + ".propertyNames");
    }
    node.min_properties = count(schema, "minProperties").value_or(0);
    node.max_properties = count(schema, "maxProperties");
  }

  void read_array_keywords(const JsonReader& schema, const std::string& path, SchemaNode& node) {
    const auto items = schema.find("items");
    const bool old_form = items && items->json().is_array();
    const std::string first = old_form ? "items" : "prefixItems";
    if (const auto list = schema.find(first)) {
      for (std::size_t i = 0; i < list->array().size(); ++i) {
        const std::string at = std::to_string(i);
        node.first_items.push_back(build(list->json()[i], path + "." + first + "[" + at + "]"));
      }
    }
    // The standard takes no notice of additionalItems without the old form.
    const std::string rest = old_form ? "additionalItems" : "items";
    if (const auto more = schema.find(rest)) {
      if (more->json().is_boolean()) {
        node.allows_more_items = more->boolean();
      } else {
        node.items = build(more->json(), path + "." + rest);
      }
    }
    node.min_items = count(schema, "minItems").value_or(0);
    node.max_items = count(schema, "maxItems");
  }

  void read_group(const JsonReader& schema, const std::string& keyword, SchemaNode::Group kind, const std::string& path,
                  SchemaNode& node) {
    const auto list = schema.find(keyword);
    if (!list) return;
    std::vector<std::size_t> alternatives;
    for (std::size_t i = 0; i < list->array().size(); ++i) {
      const std::string at = std::to_string(i);
      alternatives.push_back(build(list->json()[i], path + "." + keyword + "[" + at + "]"));
    }
    if (alternatives.empty()) throw TurnError::bad_field(path + "." + keyword, "expected at least one schema");
    node.groups.emplace_back(kind, std::move(alternatives));
  }

  SchemaPattern read_pattern(const JsonReader& pattern) {
    pattern_bytes_ += kBytesOfPattern + pattern.text().size();
    if (pattern_bytes_ > kMostPatternBytes)
      throw TurnError::bad_field(pattern.path(), "the patterns of the schema are too long, or too many");
    try {
      return SchemaPattern(pattern.text());
    } catch (const std::runtime_error& error) {
      throw TurnError::not_supported(pattern.path(), "the expression " + std::string(error.what()));
    }
  }

  static unsigned read_types(const JsonReader& type) {
    static const std::map<std::string, unsigned> kNames = {
        {"null", kNullType},     {"boolean", kBooleanType}, {"object", kObjectType}, {"array", kArrayType},
        {"number", kNumberType}, {"integer", kIntegerType}, {"string", kStringType}};
    const auto read_one = [](const JsonReader& name) {
      const auto found = kNames.find(name.text());
      if (found == kNames.end()) name.expected("the name of a JSON type");
      return found->second;
    };
    if (!type.json().is_array()) return read_one(type);
    unsigned types = 0;
    for (std::size_t i = 0; i < type.array().size(); ++i) types |= read_one(type.element(i));
    return types;
  }

  static std::optional<std::size_t> count(const JsonReader& schema, std::string_view keyword) {
    const auto found = schema.find(keyword);
    if (!found) return std::nullopt;
    return found->integer<std::size_t>();
  }
  static std::optional<double> limit(const JsonReader& schema, std::string_view keyword) {
    const auto found = schema.find(keyword);
    if (!found) return std::nullopt;
    constexpr double kMost = std::numeric_limits<double>::max();
    return found->number(-kMost, kMost);
  }

  const Json& whole_;
  const std::string field_;
  std::vector<SchemaNode>& nodes_;
  std::map<const Json*, std::size_t> built_;
  std::deque<Reference> references_;             // that are still to be followed
  std::map<std::size_t, std::size_t> leads_to_;  // from a place that only names another
  std::map<const Json*, std::map<std::string, const Json*>> members_;
  static constexpr std::size_t kBytesOfPattern = 100;
  std::size_t pattern_bytes_ = 0;
};

}  // namespace

JsonSchema::JsonSchema(const Json& schema, std::string_view field) {
  SchemaBuilder builder(schema, field, nodes_);
  try {
    builder.build_all();
  } catch (const InvalidParams& error) {
    const std::string message = error.what();
    const auto path = error.data().at("path").get<std::string>();
    throw TurnError::bad_field(path, message.substr(std::min(message.size(), path.size() + 2)));
  }
}

}  // namespace rkllm_mcp::chat
