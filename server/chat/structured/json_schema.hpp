// A JSON Schema that an answer has to fit, as far as it can be checked here:
//
//   type enum const  properties required additionalProperties propertyNames minProperties maxProperties
//   items prefixItems additionalItems minItems maxItems  minLength maxLength pattern
//   minimum maximum exclusiveMinimum exclusiveMaximum multipleOf  anyOf oneOf allOf  $ref (into the schema itself)
//
// Keywords that would forbid more and that we cannot check (not, if, contains, ...) are refused, so that no
// answer is called valid that is not. All others are notes, as the standard says; `format` is one of them.
#pragma once

#include "chat/structured/schema_pattern.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

// Kinds of JSON values, as bits.
enum JsonType : unsigned {
  kNullType = 1,
  kBooleanType = 2,
  kObjectType = 4,
  kArrayType = 8,
  kNumberType = 16,  // every number, also a whole one
  kIntegerType = 32,
  kStringType = 64,
  kAnyType = 127,
};

// What a value at one place may be. Places name each other by index into JsonSchema::nodes().
struct SchemaNode {
  unsigned types = kAnyType;
  bool forbidden = false;                      // the schema `false`
  std::optional<std::vector<Json>> allowed{};  // enum or const
  std::size_t allowed_steps = 0;               // what it takes to compare a value with all of them
  std::map<std::string, std::size_t, std::less<>> properties{};
  std::set<std::string, std::less<>> required{};
  bool allows_more_properties = true;
  std::optional<std::size_t> more_properties{};  // what they have to fit
  std::optional<std::size_t> property_names{};   // what the name of each has to fit
  std::vector<std::size_t> first_items{};
  bool allows_more_items = true;
  std::optional<std::size_t> items{};  // those behind first_items
  std::size_t min_properties = 0, min_items = 0, min_length = 0;
  std::optional<std::size_t> max_properties{}, max_items{}, max_length{};  // length in characters
  std::optional<SchemaPattern> pattern{};
  std::optional<double> minimum{}, maximum{}, above{}, below{}, multiple_of{};

  enum class Group { kAny, kOne, kAll };
  std::vector<std::pair<Group, std::vector<std::size_t>>> groups{};  // other places that the same value has to fit
};

class JsonSchema {
 public:
  // Throws TurnError (kBadField or kNotSupported) with a path below `field`.
  JsonSchema(const Json& schema, std::string_view field);
  // Any object: what "JSON mode" asks for.
  static JsonSchema any_object();

  const std::vector<SchemaNode>& nodes() const { return nodes_; }
  const SchemaNode& root() const { return nodes_.front(); }

  // Why `value` does not fit, with the path of the place: "$.age: expected integer". Nothing if it does.
  std::optional<std::string> complaint(const Json& value) const;

 private:
  JsonSchema() = default;

  std::vector<SchemaNode> nodes_;
};

// Places of a schema that are looked at one within another: 64 levels of a value, with a few places for each.
constexpr std::size_t kDeepestMatch = 256;
// The steps that one text, or one value, may take.
constexpr std::size_t kMostMatchSteps = 1'000'000;

// Bits of the types that `value` has: a whole number is both a number and an integer.
unsigned types_of(const Json& value);
// Whether the number is in the node's bounds.
bool fits_bounds(const SchemaNode& node, double number);
bool fits_length(const SchemaNode& node, const std::string& text);
// The steps that take as long as reading so many bytes.
constexpr std::size_t steps_of_bytes(std::size_t bytes) {
  constexpr std::size_t kBytesOfStep = 64;
  return bytes / kBytesOfStep;
}

}  // namespace rkllm_mcp::chat
