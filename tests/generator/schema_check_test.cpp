#include "support/catch.hpp"
#include "temporary.hpp"

#include "overlay/overlay.hpp"
#include "overlay/schema_check.hpp"

using namespace bindgen;

namespace {

std::size_t count(const char* schema, const char* document) {
  return violations(Json::parse(schema), Json::parse(document)).size();
}

}  // namespace

TEST_CASE("what breaks a schema is told with its place") {
  const auto found = violations(Json::parse(R"({"type":"object","properties":{"a":{"items":{"type":"integer"}}}})"),
                                Json::parse(R"({"a":[1,"x"]})"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].pointer == "/a/1");
  CHECK(found[0].message == "expected \"integer\", found string");
}

TEST_CASE("each keyword that is known is checked") {
  CHECK(count(R"({"type":["string","null"]})", "null") == 0);
  CHECK(count(R"({"type":["string","null"]})", "1") == 1);
  CHECK(count(R"({"enum":["a","b"]})", R"("c")") == 1);
  CHECK(count(R"({"required":["a"]})", "{}") == 1);
  CHECK(count(R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1,"b":2})") == 1);
  CHECK(count(R"({"propertyNames":{"pattern":"^a"}})", R"({"a":1,"b":2})") == 1);
  CHECK(count(R"({"additionalProperties":{"type":"integer"}})", R"({"a":1,"b":"2"})") == 1);
  CHECK(count(R"({"minLength":1})", R"("")") == 1);
  CHECK(count(R"({"minimum":1})", "0") == 1);
  CHECK(count(R"({"pattern":"^x"})", R"("yx")") == 1);
  CHECK(count(R"({"const":0})", "1") == 1);
  CHECK(count(R"({"maximum":1})", "2") == 1);
  CHECK(count(R"({"minItems":1})", "[]") == 1);
  CHECK(count(R"({"oneOf":[{"type":"integer"},{"minimum":1}]})", "2") == 1);
  CHECK(count(R"({"oneOf":[{"type":"integer"},{"type":"string"}]})", "2") == 0);
  CHECK(count(R"({"anyOf":[{"type":"integer"},{"minimum":1}]})", "2") == 0);
  CHECK(count(R"({"anyOf":[{"type":"integer"},{"type":"null"}]})", "\"x\"") == 1);
  CHECK(count(R"({"allOf":[{"type":"integer"},{"minimum":1}]})", "0") == 1);
  CHECK(count(R"({"if":{"type":"integer"},"then":{"minimum":1},"else":{"minLength":1}})", "0") == 1);
  CHECK(count(R"({"if":{"type":"integer"},"then":{"minimum":1},"else":{"minLength":1}})", "\"\"") == 1);
  CHECK(count(R"({"properties":{"a":false}})", R"({"a":1})") == 1);
  CHECK(count(R"({"$defs":{"n":{"type":"integer"}},"items":{"$ref":"#/$defs/n"}})", R"([1,"2"])") == 1);
}

TEST_CASE("a keyword that is not known is a bug of the schema, not passed over") {
  CHECK_THROWS_AS(count(R"({"maxProperties":3})", R"("abcd")"), std::logic_error);
}

TEST_CASE("the overlay keeps its schema") {
  CHECK(violations(Json::parse(kOverlaySchema), Json::parse(read_text(test::kOverlay))).empty());
}
