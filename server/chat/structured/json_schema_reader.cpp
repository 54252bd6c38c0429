#include "chat/structured/json_schema.hpp"

#include "chat/turn/turn_error.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <stdexcept>

// Reading a schema: JSON to nodes. What is made of them is in json_schema.cpp.
namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostSchemaNodes = 2000;
constexpr std::size_t kMostPatternBytes = 16'384;  // of all patterns, which are compiled on the event loop

// What a keyword that cannot be checked may say all the same, since it then asks for nothing.
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

// Builds the nodes of one schema. Places that $ref names are built once, so that a schema may name itself.
class SchemaBuilder {
 public:
  SchemaBuilder(const Json& whole, std::string_view field, std::vector<SchemaNode>& nodes)
      : whole_(whole), field_(field), nodes_(nodes) {}

  std::size_t build_place(const std::string& pointer, const std::string& path) {
    const auto known = built_.find(pointer);
    if (known != built_.end()) return known->second;
    const Json* place = nullptr;
    try {
      place = &whole_.at(Json::json_pointer(pointer));
    } catch (const Json::exception&) {
      throw TurnError::bad_field(path, "names a place that the schema does not have");
    }
    return build(*place, path, pointer);
  }

  // A value could else be asked for by itself, with nothing between.
  void refuse_circles() {
    std::vector<int> state(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) walk_groups(i, state);
  }

 private:
  std::size_t build(const Json& schema, const std::string& path, const std::string& pointer) {
    if (nodes_.size() >= kMostSchemaNodes) throw TurnError::bad_field(path, "the schema has too many parts");
    const std::size_t index = nodes_.size();
    built_.emplace(pointer, index);
    nodes_.emplace_back();
    SchemaNode node;  // nodes_ may move meanwhile
    if (schema.is_boolean()) {
      node.forbidden = !schema.get<bool>();
    } else {
      const JsonReader reader(schema, path);
      reader.object();
      read_keywords(reader, path, pointer, node);
    }
    nodes_[index] = std::move(node);
    return index;
  }

  void read_keywords(const JsonReader& schema, const std::string& path, const std::string& pointer, SchemaNode& node) {
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
    read_object_keywords(schema, path, pointer, node);
    read_array_keywords(schema, path, pointer, node);
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
    read_group(schema, "anyOf", SchemaNode::Group::kAny, path, pointer, node);
    read_group(schema, "oneOf", SchemaNode::Group::kOne, path, pointer, node);
    read_group(schema, "allOf", SchemaNode::Group::kAll, path, pointer, node);
    if (const auto reference = schema.find("$ref")) {
      const std::string& target = reference->text();
      if (!target.starts_with('#')) {
        throw TurnError::not_supported(path + ".$ref",
                                       "only places in the schema itself can be named: \"#/$defs/...\"");
      }
      node.groups.emplace_back(SchemaNode::Group::kAll, std::vector{build_place(target.substr(1), path + ".$ref")});
    }
  }

  void read_object_keywords(const JsonReader& schema, const std::string& path, const std::string& pointer,
                            SchemaNode& node) {
    if (const auto properties = schema.find("properties")) {
      for (const auto& [name, value] : properties->object().items()) {
        node.properties.emplace(
            name, build(value, path + ".properties." + shortened(name), pointer + "/properties/" + pointer_part(name)));
      }
    }
    if (const auto required = schema.find("required")) {
      for (std::size_t i = 0; i < required->array().size(); ++i) node.required.insert(required->element(i).text());
    }
    if (const auto more = schema.find("additionalProperties")) {
      if (more->json().is_boolean()) {
        node.allows_more_properties = more->boolean();
      } else {
        node.more_properties = build(more->json(), path + ".additionalProperties", pointer + "/additionalProperties");
      }
    }
    if (const auto names = schema.find("propertyNames")) {
      node.property_names = build(names->json(), path + ".propertyNames", pointer + "/propertyNames");
    }
    node.min_properties = count(schema, "minProperties").value_or(0);
    node.max_properties = count(schema, "maxProperties");
  }

  void read_array_keywords(const JsonReader& schema, const std::string& path, const std::string& pointer,
                           SchemaNode& node) {
    const auto items = schema.find("items");
    const bool old_form = items && items->json().is_array();
    const std::string first = old_form ? "items" : "prefixItems";
    if (const auto list = schema.find(first)) {
      for (std::size_t i = 0; i < list->array().size(); ++i) {
        const std::string at = std::to_string(i);
        node.first_items.push_back(
            build(list->json()[i], path + "." + first + "[" + at + "]", pointer + "/" + first + "/" + at));
      }
    }
    // The standard takes no notice of additionalItems without the old form.
    const std::string rest = old_form ? "additionalItems" : "items";
    if (const auto more = schema.find(rest)) {
      if (more->json().is_boolean()) {
        node.allows_more_items = more->boolean();
      } else {
        node.items = build(more->json(), path + "." + rest, pointer + "/" + rest);
      }
    }
    node.min_items = count(schema, "minItems").value_or(0);
    node.max_items = count(schema, "maxItems");
  }

  void read_group(const JsonReader& schema, const std::string& keyword, SchemaNode::Group kind, const std::string& path,
                  const std::string& pointer, SchemaNode& node) {
    const auto list = schema.find(keyword);
    if (!list) return;
    std::vector<std::size_t> alternatives;
    for (std::size_t i = 0; i < list->array().size(); ++i) {
      const std::string at = std::to_string(i);
      alternatives.push_back(
          build(list->json()[i], path + "." + keyword + "[" + at + "]", pointer + "/" + keyword + "/" + at));
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

  static std::string pointer_part(const std::string& name) {
    std::string part;
    for (const char character : name) {
      if (character == '~')
        part += "~0";
      else if (character == '/')
        part += "~1";
      else
        part.push_back(character);
    }
    return part;
  }

  void walk_groups(std::size_t index, std::vector<int>& state) {
    constexpr int kOpen = 1;
    constexpr int kDone = 2;
    if (state[index] == kDone) return;
    if (state[index] == kOpen) throw TurnError::bad_field(field_, "the schema names itself without end");
    state[index] = kOpen;
    for (const auto& [kind, alternatives] : nodes_[index].groups) {
      for (const std::size_t alternative : alternatives) walk_groups(alternative, state);
    }
    state[index] = kDone;
  }

  const Json& whole_;
  const std::string field_;
  std::vector<SchemaNode>& nodes_;
  std::map<std::string, std::size_t> built_;  // by pointer
  static constexpr std::size_t kBytesOfPattern = 100;
  std::size_t pattern_bytes_ = 0;
};

}  // namespace

JsonSchema::JsonSchema(const Json& schema, std::string_view field) {
  SchemaBuilder builder(schema, field, nodes_);
  try {
    builder.build_place("", std::string(field));
  } catch (const InvalidParams& error) {
    const std::string message = error.what();
    const auto path = error.data().at("path").get<std::string>();
    throw TurnError::bad_field(path, message.substr(std::min(message.size(), path.size() + 2)));
  }
  builder.refuse_circles();
}

}  // namespace rkllm_mcp::chat
