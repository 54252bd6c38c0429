// What the text of a schema becomes: places and what each asks for. What values fit them is in json_schema_test.cpp.
#include "chat/structured/json_schema.hpp"

#include "chat/turn/turn_error.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

JsonSchema read_schema(const std::string& text) { return {Json::parse(text), "schema"}; }

std::optional<TurnError> refusal_of_schema(const Json& schema) {
  try {
    const JsonSchema read(schema, "schema");
    return std::nullopt;
  } catch (const TurnError& error) {
    return error;
  }
}

// [schema] in an array, again and again.
Json nested_groups(int levels) {
  Json schema = Json::object();
  for (int level = 0; level < levels; ++level) schema = Json{{"allOf", Json::array({std::move(schema)})}};
  return schema;
}

Json schema_of_parts(std::size_t parts) {
  Json items = Json::array();
  for (std::size_t part = 1; part < parts; ++part) items.push_back(true);
  return {{"prefixItems", std::move(items)}};
}

}  // namespace

TEST_CASE("a schema that says nothing asks for nothing") {
  for (const std::string text : {"{}", "true", R"({"title":"t","format":"email","minLenght":3})"}) {
    CAPTURE(text);
    const JsonSchema schema = read_schema(text);
    REQUIRE(schema.nodes().size() == 1);
    const SchemaNode& root = schema.root();
    CHECK(root.types == kAnyType);
    CHECK_FALSE(root.forbidden);
    CHECK_FALSE(root.allowed);
    CHECK(root.allows_more_properties);
    CHECK(root.allows_more_items);
    CHECK_FALSE(root.max_length);
    CHECK(root.groups.empty());
  }
  CHECK(read_schema("false").root().forbidden);
}

TEST_CASE("types are read by their names, alone or in a list") {
  CHECK(read_schema(R"({"type":"integer"})").root().types == kIntegerType);
  CHECK(read_schema(R"({"type":["string","null"]})").root().types == (kStringType | kNullType));
  CHECK(read_schema(R"({"type":["array","array"]})").root().types == kArrayType);
  CHECK(refusal_of_schema(Json{{"type", 5}}).value().field() == "schema.type");
  CHECK(refusal_of_schema(Json{{"type", {"null", "text"}}}).value().field() == "schema.type[1]");
}

TEST_CASE("the values of enum and const are kept, null is one of them, and const counts") {
  CHECK(read_schema(R"({"enum":["a",1]})").root().allowed == std::vector<Json>{"a", 1});
  CHECK(read_schema(R"({"const":null})").root().allowed == std::vector<Json>{nullptr});
  CHECK(read_schema(R"({"enum":["a",1],"const":1})").root().allowed == std::vector<Json>{1});
  CHECK(read_schema(R"({"enum":[]})").root().allowed == std::vector<Json>{});
}

TEST_CASE("what an enum takes to be compared with grows with its values, what is inside of them, and their texts") {
  const auto steps = [](const Json& value) {
    return JsonSchema(Json{{"enum", {value}}}, "schema").root().allowed_steps;
  };
  CHECK(steps("a") == 0);
  CHECK(steps(std::vector<int>(160, 1)) == 10);
  CHECK(steps(std::string(64 * 160, 'a')) == 10);
  CHECK(steps(Json{{std::string(64 * 160, 'a'), 1}}) == 10);
}

TEST_CASE("the limits of each kind of value stand where they belong") {
  const JsonSchema schema = read_schema(
      R"({"minLength":1,"maxLength":2,"minItems":3,"maxItems":4,"minProperties":5,"maxProperties":6,
          "minimum":-1.5,"maximum":7,"exclusiveMinimum":8,"exclusiveMaximum":9,"multipleOf":0.5})");
  const SchemaNode& root = schema.root();
  CHECK(root.min_length == 1);
  CHECK(root.max_length == 2);
  CHECK(root.min_items == 3);
  CHECK(root.max_items == 4);
  CHECK(root.min_properties == 5);
  CHECK(root.max_properties == 6);
  CHECK(root.minimum == -1.5);
  CHECK(root.maximum == 7);
  CHECK(root.above == 8);
  CHECK(root.below == 9);
  CHECK(root.multiple_of == 0.5);
}

TEST_CASE("the places in an object and in an array are found through their own") {
  const JsonSchema schema = read_schema(
      R"({"properties":{"a":{"type":"null"}},"required":["a","b"],"additionalProperties":{"type":"string"},
          "propertyNames":{"maxLength":3},"prefixItems":[{"type":"boolean"}],"items":{"type":"number"}})");
  const SchemaNode& root = schema.root();
  const auto types = [&schema](std::size_t place) { return schema.nodes().at(place).types; };
  CHECK(types(root.properties.at("a")) == kNullType);
  CHECK(root.required == std::set<std::string, std::less<>>{"a", "b"});
  CHECK(types(root.more_properties.value()) == kStringType);
  CHECK(schema.nodes().at(root.property_names.value()).max_length == 3);
  REQUIRE(root.first_items.size() == 1);
  CHECK(types(root.first_items[0]) == kBooleanType);
  CHECK(types(root.items.value()) == kNumberType);
  CHECK_FALSE(read_schema(R"({"additionalProperties":false,"items":false})").root().allows_more_properties);
  CHECK_FALSE(read_schema(R"({"additionalProperties":false,"items":false})").root().allows_more_items);
}

TEST_CASE("a place that is named is the place itself, by whatever name, and one that names itself is no place more") {
  const JsonSchema schema = read_schema(
      R"({"properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/properties/a"},"c":{"items":{"$ref":"#"}}},
          "$defs":{"x/y":{"type":"null"}}})");
  const auto& properties = schema.root().properties;
  CHECK(schema.nodes().at(properties.at("a")).types == kNullType);
  CHECK(properties.at("b") == properties.at("a"));
  CHECK(schema.nodes().at(properties.at("c")).items == 0);
}

TEST_CASE("a place that names another and says more is held against both") {
  const JsonSchema schema = read_schema(R"({"maxLength":3,"$ref":"#/$defs/x","$defs":{"x":{"type":"string"}}})");
  const SchemaNode& root = schema.root();
  CHECK(root.max_length == 3);
  REQUIRE(root.groups.size() == 1);
  CHECK(root.groups[0].first == SchemaNode::Group::kAll);
  REQUIRE(root.groups[0].second.size() == 1);
  CHECK(schema.nodes().at(root.groups[0].second[0]).types == kStringType);
}

TEST_CASE("a refusal says whether the schema is wrong or cannot be checked, and where") {
  const auto kind = [](const std::string& text) { return refusal_of_schema(Json::parse(text)).value().kind(); };
  CHECK(kind(R"({"type":"text"})") == ErrorKind::kBadField);
  CHECK(kind(R"({"$ref":"#/absent"})") == ErrorKind::kBadField);
  CHECK(kind(R"({"contains":{}})") == ErrorKind::kNotSupported);
  CHECK(kind(R"({"pattern":"(?i)a"})") == ErrorKind::kNotSupported);
  CHECK(kind(R"({"$ref":"other.json#/a"})") == ErrorKind::kNotSupported);
  const auto field = [](const std::string& text) { return refusal_of_schema(Json::parse(text)).value().field(); };
  CHECK(field(R"({"properties":{"a":{"items":{"maxItems":-1}}}})") == "schema.properties.a.items.maxItems");
  CHECK(field(R"({"anyOf":[{},{"prefixItems":[{"minimum":"1"}]}]})") == "schema.anyOf[1].prefixItems[0].minimum");
  CHECK(field(R"({"required":["a",1]})") == "schema.required[1]");
  CHECK(field("5") == "schema");
}

TEST_CASE("a schema may have two thousand parts, and no more") {
  CHECK_FALSE(refusal_of_schema(schema_of_parts(2000)));
  CHECK_THAT(refusal_of_schema(schema_of_parts(2001)).value().what(), rkllm_mcp::test::has_text("too many parts"));
}

TEST_CASE("groups may lie within each other sixty-four times, and no more") {
  CHECK_FALSE(refusal_of_schema(nested_groups(64)));
  CHECK_THAT(refusal_of_schema(nested_groups(65)).value().what(), rkllm_mcp::test::has_text("nested too deeply"));
}

TEST_CASE("all patterns of a schema have sixteen kilobytes, of which each takes a hundred bytes besides its own") {
  const auto half = [](std::size_t bytes) { return Json{{"pattern", std::string(bytes, 'a')}}; };
  CHECK_FALSE(refusal_of_schema(Json{{"prefixItems", {half(8092), half(8092)}}}));
  const auto refusal = refusal_of_schema(Json{{"prefixItems", {half(8092), half(8093)}}});
  CHECK(refusal.value().field() == "schema.prefixItems[1].pattern");
  Json patterns = {{"prefixItems", Json::array()}};
  for (int count = 0; count < 163; ++count) patterns["prefixItems"].push_back(Json{{"pattern", ""}});
  CHECK_FALSE(refusal_of_schema(patterns));
  patterns["prefixItems"].push_back(Json{{"pattern", ""}});
  CHECK(refusal_of_schema(patterns).value().field() == "schema.prefixItems[163].pattern");
}
