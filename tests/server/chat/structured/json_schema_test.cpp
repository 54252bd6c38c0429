#include "chat/structured/json_schema.hpp"

#include "chat/turn/turn_error.hpp"

#include "support/catch.hpp"

#include <string>
#include <tuple>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

std::string complaint_about(const std::string& schema, const std::string& value) {
  return JsonSchema(Json::parse(schema), "schema").complaint(Json::parse(value)).value_or("");
}

const std::string kGivenUp = "this value takes too many steps to be held against the schema, or lies too deep in it";

std::string place(int number) { return "#/" + std::to_string(number); }

// {"a":{"a": ... 1}}
Json nested_value(int levels) {
  Json value = 1;
  for (int i = 0; i < levels; ++i) value = Json{{"a", std::move(value)}};
  return value;
}

// Places that name each the next one and say `more` beside it; the last one has such a chain in its property "a".
Json chain_of_places(int length, const Json& more) {
  Json schema = {{"$ref", place(0)}};
  for (int i = 0; i < length; ++i) {
    schema[std::to_string(i)] = more;
    schema[std::to_string(i)]["$ref"] = place(i + 1);
  }
  schema[std::to_string(length)] = {{"type", "object"}, {"properties", {{"a", {{"$ref", place(0)}}}}}};
  return schema;
}

Json often(const Json& schema, int times) {
  Json all = Json::array();
  for (int i = 0; i < times; ++i) all.push_back(schema);
  return {{"allOf", std::move(all)}};
}

Json many_words(int count) {
  Json words = Json::array();
  for (int i = 0; i < count; ++i) words.push_back("a" + std::to_string(i));
  words.push_back("b");
  return words;
}

}  // namespace

TEST_CASE("a whole value is held against its schema, and the complaint says where") {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {R"({})", "5", ""},
      {"true", "5", ""},
      {"false", "5", "$: nothing is allowed here"},
      {R"({"type":"string"})", R"("a")", ""},
      {R"({"type":"string"})", "5", "$: expected string"},
      {R"({"type":["string","null"]})", "null", ""},
      {R"({"type":"integer"})", "3.0", ""},
      {R"({"type":"integer"})", "3.5", "$: expected integer"},
      {R"({"type":"number"})", "3", ""},
      {R"({"enum":["a",1,null]})", "1", ""},
      {R"({"enum":["a",1,null]})", R"("b")", "$: expected one of the values of enum or const"},
      {R"({"const":null})", "0", "$: expected one of the values of enum or const"},
      {R"({"minimum":1,"exclusiveMaximum":5,"multipleOf":0.1})", "4.7", ""},
      {R"({"minimum":1})", "0.9", "$: the number is out of bounds"},
      {R"({"exclusiveMaximum":5})", "5", "$: the number is out of bounds"},
      {R"({"multipleOf":2})", "3", "$: the number is out of bounds"},
      {R"({"minLength":2,"maxLength":3})", R"("Huế")", ""},
      {R"({"maxLength":3})", R"("Huế!")", "$: wrong length of string"},
      {R"({"properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false})", R"({"a":1})", ""},
      {R"({"properties":{"a":{"type":"integer"}},"required":["a"]})", "{}", "$.a: missing"},
      {R"({"properties":{"a":{"type":"integer"}},"additionalProperties":false})", R"({"b":1})", "$.b: not allowed"},
      {R"({"properties":{"a":{"type":"integer"}}})", R"({"a":"x"})", "$.a: expected integer"},
      {R"({"additionalProperties":{"type":"string"}})", R"({"a":1})", "$.a: expected string"},
      {R"({"minProperties":1,"maxProperties":1})", "{}", "$: wrong number of properties"},
      {R"({"items":{"type":"integer"},"minItems":1,"maxItems":2})", "[1,2]", ""},
      {R"({"items":{"type":"integer"}})", R"([1,"x"])", "$[1]: expected integer"},
      {R"({"maxItems":1})", "[1,2]", "$: wrong number of items"},
      {R"({"prefixItems":[{"type":"integer"}],"items":false})", "[1]", ""},
      {R"({"prefixItems":[{"type":"integer"}],"items":false})", "[1,2]", "$[1]: not allowed"},
      {R"({"items":[{"type":"integer"},{"type":"string"}]})", "[1,2]", "$[1]: expected string"},
      {R"({"items":[{"type":"integer"}],"additionalItems":false})", "[1]", ""},
      {R"({"items":[{"type":"integer"}],"additionalItems":false})", "[1,2]", "$[1]: not allowed"},
      {R"({"items":[{"type":"integer"}],"additionalItems":{"type":"string"}})", "[1,2]", "$[1]: expected string"},
      {R"({"items":[{"type":"integer"}],"additionalItems":true})", R"([1,"x"])", ""},
      {R"({"items":{"type":"integer"},"additionalItems":false})", "[1,2]", ""},
      {R"({"propertyNames":{"type":"string"}})", R"({"a":1})", ""},
      {R"({"propertyNames":{"enum":["a","b"]}})", R"({"a":1,"c":2})",
       "$.c (its name): expected one of the values of enum or const"},
      {R"({"propertyNames":false})", "{}", ""},
      {R"({"propertyNames":false})", R"({"a":1})", "$.a (its name): nothing is allowed here"},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "null", ""},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1", "$: expected null"},
      {R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1.5", ""},
      {R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1", "$: fits none, or several, of oneOf"},
      {R"({"allOf":[{"type":"number"},{"minimum":3}]})", "2", "$: the number is out of bounds"},
      {R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}})", R"("x")", "$: expected integer"},
      {R"({"type":"object","properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"]})",
       R"({"next":{"next":null}})", ""},
      {R"({"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false})", R"({"next":{"last":1}})",
       "$.next.last: not allowed"},
      {R"({"properties":{"a/b":{"type":"integer"},"c":{"$ref":"#/properties/a~1b"}}})", R"({"c":"x"})",
       "$.c: expected integer"},
      {R"({"title":"notes","description":"d","format":"email","x-mine":1,"default":5})", "1", ""},
  };
  for (const auto& [schema, value, complaint] : cases) {
    CAPTURE(schema, value);
    CHECK(complaint_about(schema, value) == complaint);
  }
}

TEST_CASE("a schema that cannot be checked, or is none, is refused with its place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"patternProperties":{"@":{}}})", "schema.patternProperties: this keyword cannot be checked here"},
      {R"({"properties":{"mail":{"pattern":"("}}})",
       "schema.properties.mail.pattern: the expression is wrong: missing closing parenthesis"},
      {R"({"pattern":"\\Ax"})", "schema.pattern: the expression \"\\A\" cannot be read here"},
      {R"({"not":{}})", "schema.not: this keyword cannot be checked here"},
      {R"({"type":"text"})", "schema.type: expected the name of a JSON type, found \"text\""},
      {R"({"items":5})", "schema.items: expected object, found 5"},
      {R"({"minItems":-1})", "schema.minItems: expected integer from 0 to 18446744073709551615, found -1"},
      {R"({"multipleOf":0})", "schema.multipleOf: expected more than 0"},
      {R"({"anyOf":[]})", "schema.anyOf: expected at least one schema"},
      {R"({"$ref":"#/$defs/absent"})", "schema.$ref: names a place that the schema does not have"},
      {R"({"$ref":"https://example.org/a"})",
       "schema.$ref: only places in the schema itself can be named: \"#/$defs/...\""},
      {R"({"$ref":"#"})", "schema: the schema names itself without end"},
      {R"({"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"allOf":[{"$ref":"#"}]}}})",
       "schema: the schema names itself without end"},
  };
  for (const auto& [schema, complaint] : cases) {
    CAPTURE(schema);
    CHECK_THROWS_WITH(JsonSchema(Json::parse(schema), "schema"), complaint);
  }
}

TEST_CASE("a pattern is found anywhere in a text, as ECMAScript reads it") {
  const std::vector<std::tuple<std::string, std::string, bool>> cases = {
      {"b", "abc", true},
      {"^b", "abc", false},
      {"^[a-z]+$", "abc\n", false},   // the end is the end
      {"^.$", "\xC3\xA9", true},      // a character, not a byte
      {"^\\d+$", "\xD9\xA3", false},  // digits are those of ASCII
      {"^\\u00e9\\x41$",
       "\xC3\xA9"
       "A",
       true},
      {"^[^]$", "\n", true},
      {"^a.b$", "a\nb", false},
      {"^a.b$", "a\xE2\x80\xA8\x62", false},  // U+2028 ends a line, too
      {"^[.]$", "a", false},
      {"^a{2,3}?$", "aaa", true},
      {"^\\p{L}\\.$", "\xC3\xA9.", true},
      {"^(?:(?:a|b)+c){2}$", "abcbc", true},
      {"^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
       "ann.lee@mail.example.org", true},
      {"^(?<y>\\d{4})-\\d\\d$", "2026-11", true},
  };
  for (const auto& [pattern, text, fits] : cases) {
    CAPTURE(pattern, text);
    const JsonSchema schema(Json{{"pattern", pattern}}, "schema");
    CHECK(schema.complaint(text) == (fits ? std::nullopt : std::optional<std::string>("$: does not fit the pattern")));
  }
  CHECK_FALSE(JsonSchema(Json{{"pattern", "a"}}, "schema").complaint(5));  // of strings alone
  for (const std::string other : {"\\h",           "\\v",         "\\Qa\\E", "(?i)a", "(?>a)",     "(?R)",
                                  "(*ACCEPT)",     "[[:alpha:]]", "a{,3}",   "\\R",   "^\\u{61}$", "^(?:(a)|b)*\\1$",
                                  "(?<n>a)\\k<n>", "a++",         "a*+",     "a?+",   "a{2}+",     "\\pL",
                                  "a{1, 3}",       "a{x"}) {
    CAPTURE(other);
    CHECK_THROWS_AS(JsonSchema(Json{{"pattern", other}}, "schema"), TurnError);
  }
}

TEST_CASE("no pattern takes long, and none that was given up counts as fitting or not") {
  const Json hard{{"pattern", "^(a+)+$"}};
  const std::string text = std::string(40, 'a') + "b";
  const std::string given_up = "this value takes too many steps to be held against the schema, or lies too deep in it";
  CHECK(JsonSchema(hard, "schema").complaint(text) == given_up);
  CHECK(JsonSchema(Json{{"oneOf", {hard, {{"type", "string"}}}}}, "schema").complaint(text) == given_up);
  Json many = {{"items", {{"pattern", "a"}}}};
  CHECK(JsonSchema(many, "schema").complaint(Json(std::vector<std::string>(3000, "a"))) == given_up);
  Json patterns = {{"allOf", Json::array()}};
  // Whatever a pattern does, at whichever beginnings, with however many groups.
  const std::string nearly(4000, 'a');
  for (const std::string pattern :
       {"(?:a|a){14}[bc]", "a*[bc]", "(?!(?:a|a){12}[bc])(?:)$|(?:a|a){12}[bc]|a$", "^(?:a|aa)*[bc]|^z"}) {
    CAPTURE(pattern);
    Json often = {{"allOf", Json::array()}};
    for (int i = 0; i < 50; ++i) often["allOf"].push_back({{"pattern", pattern}});
    CHECK(JsonSchema(often, "schema").complaint(nearly).has_value());
  }
  CHECK(JsonSchema(Json{{"pattern", "a"}}, "schema").complaint(std::string(5000, 'a')) == given_up);
  std::string groups;
  for (int i = 0; i < 101; ++i) groups += "()";
  CHECK_THROWS_AS(JsonSchema(Json{{"pattern", groups}}, "schema"), TurnError);
  CHECK_THROWS_AS(JsonSchema(Json{{"pattern", std::string(17'000, 'a')}}, "schema"), TurnError);
  for (int i = 0; i < 163; ++i) patterns["allOf"].push_back({{"pattern", "a"}});
  CHECK_THROWS_AS(JsonSchema(patterns, "schema"), TurnError);
}

TEST_CASE("of the keywords that cannot be checked only the value that asks for nothing is let through") {
  const auto is_taken = [](const std::string& schema) {
    try {
      const JsonSchema read(Json::parse(schema), "schema");
      return true;
    } catch (const TurnError&) {
      return false;
    }
  };
  for (const std::string name : {"unevaluatedProperties", "unevaluatedItems", "then", "else"}) {
    CAPTURE(name);
    CHECK(is_taken("{\"" + name + "\":true}"));
    CHECK_FALSE(is_taken("{\"" + name + "\":false}"));
    CHECK_FALSE(is_taken("{\"" + name + "\":{\"type\":\"string\"}}"));
  }
  for (const std::string name : {"not", "uniqueItems"}) {
    CAPTURE(name);
    CHECK(is_taken("{\"" + name + "\":false}"));
    CHECK_FALSE(is_taken("{\"" + name + "\":true}"));
  }
  CHECK(is_taken(R"({"if":true})"));
  CHECK(is_taken(R"({"if":false})"));
  CHECK_FALSE(is_taken(R"({"if":true,"then":false})"));
  CHECK_FALSE(is_taken(R"({"contains":false})"));
  CHECK_FALSE(is_taken(R"({"contains":true})"));
}

TEST_CASE("a schema with too many parts is refused, and one with too many alternatives answers in time") {
  Json schema = {{"anyOf", Json::array()}};
  for (int i = 0; i < 2001; ++i) schema["anyOf"].push_back(Json::object());
  CHECK_THROWS_AS(JsonSchema(schema, "schema"), TurnError);

  const Json doubling = Json::parse(
      R"({"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"array","items":{"$ref":"#"}},{"const":1}]})");
  std::string nested(50, '[');
  nested += "2" + std::string(50, ']');
  CHECK(JsonSchema(doubling, "schema").complaint(Json::parse(nested)) ==
        "this value takes too many steps to be held against the schema, or lies too deep in it");
}

TEST_CASE("a chain of places that only name the next one is as good as its end, however long it is") {
  const JsonSchema schema(chain_of_places(1900, Json::object()), "schema");
  std::string innermost = "$";
  for (int i = 0; i < 60; ++i) innermost += ".a";
  CHECK(schema.complaint(nested_value(60)) == innermost + ": expected object");
}

TEST_CASE(
    "a schema is refused whose groups lie too deep, and a value for which it had to be looked at too deep is given "
    "up") {
  const Json more = {{"minProperties", 1}};
  CHECK_THROWS_WITH(JsonSchema(chain_of_places(500, more), "schema"),
                    "schema: anyOf, oneOf, allOf and $ref are nested too deeply");
  const JsonSchema schema(chain_of_places(60, more), "schema");
  CHECK(schema.complaint(nested_value(60)) == kGivenUp);
  CHECK(schema.complaint(nested_value(3)) == "$.a.a.a: expected object");
  CHECK_THROWS_WITH(JsonSchema(Json::parse(R"({"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}})"), "schema"),
                    "schema: the schema names itself without end");
}

TEST_CASE("all that a value is compared with counts, so that no schema holds the server up") {
  const Json words = {{"enum", many_words(4000)}};
  const Json texts(std::vector<std::string>(200, "b"));
  CHECK(JsonSchema({{"items", words}}, "schema").complaint(texts) == std::nullopt);
  CHECK(JsonSchema({{"items", often(words, 400)}}, "schema").complaint(texts) == kGivenUp);
  const Json lists = {{"enum", {Json(std::vector<int>(20'000, 0)), 1}}};
  CHECK(JsonSchema({{"items", often(lists, 60)}}, "schema").complaint(Json(std::vector<int>(200, 1))) == kGivenUp);

  Json wide = Json::object();
  for (int i = 0; i < 1000; ++i) wide["k" + std::to_string(i)] = 0;
  const Json last = {{"required", std::vector<std::string>(25'000, "k999")}};
  CHECK(JsonSchema(last, "schema").complaint(wide) == std::nullopt);
  CHECK(JsonSchema(often({{"required", {"k999"}}}, 1500), "schema").complaint(wide) == kGivenUp);
  CHECK(JsonSchema(often({{"minProperties", 1}}, 1500), "schema").complaint(wide) == kGivenUp);
  CHECK(JsonSchema(often({{"minItems", 1}}, 1500), "schema").complaint(Json(std::vector<int>(1000, 0))) == kGivenUp);
  CHECK(JsonSchema(often({{"minLength", 1}}, 1500), "schema").complaint(std::string(100'000, 'a')) == kGivenUp);
}

TEST_CASE("each place of a schema is read once, whatever names it") {
  Json schema = {{"properties", Json::object()}, {"x", {{"type", "array"}}}};
  std::string pointer = "#/x";
  for (int i = 0; i < 50; ++i) pointer += "/items";
  Json inner = {{"type", "string"}};
  for (int i = 0; i < 50; ++i) inner = Json{{"items", std::move(inner)}};
  schema["x"] = std::move(inner);
  for (int i = 0; i <= 50; ++i) {
    schema["properties"][std::to_string(i)] = {{"$ref", pointer}};
    pointer.resize(pointer.rfind('/'));
  }
  CHECK(JsonSchema(schema, "schema").nodes().size() == 1 + 51 + 51);
  CHECK_THROWS_WITH(JsonSchema(Json::parse(R"({"$ref":"#/$defs/n","$defs":{"n":{"type":"text"}}})"), "schema"),
                    "schema.$defs.n.type: expected the name of a JSON type, found \"text\"");
}

TEST_CASE("places of a wide schema are found by name, wherever they stand in it") {
  Json schema = {{"anyOf", Json::array()}, {"x", Json::object()}};
  Json::object_t& wide = schema["x"].get_ref<Json::object_t&>();
  for (int i = 0; i < 20'000; ++i) wide.push_back({"d" + std::to_string(i), true});
  for (int i = 19'100; i < 20'000; ++i) schema["anyOf"].push_back({{"$ref", "#/x/d" + std::to_string(i)}});
  CHECK(JsonSchema(schema, "schema").complaint(5) == std::nullopt);
  for (const std::string reference : {"#/x/absent", "#x", "#/anyOf/01", "#/anyOf/900", "#/x/d0/y", "#/x/~2"}) {
    CAPTURE(reference);
    CHECK_THROWS_WITH(JsonSchema({{"$ref", reference}, {"anyOf", {true}}, {"x", {{"d0", true}}}}, "schema"),
                      "schema.$ref: names a place that the schema does not have");
  }
}
