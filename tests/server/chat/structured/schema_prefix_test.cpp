#include "chat/structured/schema_prefix.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// A text as it comes, held against a schema.
struct CheckedPrefix {
  explicit CheckedPrefix(const Json& rules) : schema(rules, "schema") {}

  // The bytes up to and with the one behind which the value cannot fit any more; nothing if it still can.
  std::string refused_part_of(const std::string& text) {
    ValueCheck check(schema.nodes(), 0, effort);
    JsonPrefix prefix([&check](const JsonEvent& event) { return check.accept(event); });
    for (std::size_t size = 1; size <= text.size(); ++size) {
      if (!prefix.feed(text.substr(size - 1, 1))) return text.substr(0, size);
    }
    return "";
  }

  JsonSchema schema;
  ValueCheck::Effort effort;
};

std::string refused_part(const std::string& rules, const std::string& text) {
  return CheckedPrefix(Json::parse(rules)).refused_part_of(text);
}

}  // namespace

TEST_CASE("a value of a wrong type is refused at its first event") {
  CHECK(refused_part(R"({"type":"object"})", "[1]") == "[");
  CHECK(refused_part(R"({"type":"array"})", "{}") == "{");
  CHECK(refused_part(R"({"type":"integer"})", "\"1\"") == "\"");
  CHECK(refused_part(R"({"type":"string"})", "null") == "null");
  CHECK(refused_part(R"({"type":["string","null"]})", "null").empty());
  CHECK(refused_part("false", "{}") == "{");
  CHECK(refused_part("true", "{}").empty());
}

TEST_CASE("a string is refused as soon as it begins no value that is allowed, or is too long") {
  CHECK(refused_part(R"({"enum":["cat","cow",1]})", R"("cob")") == "\"cob");
  CHECK(refused_part(R"({"enum":["cat","cow",1]})", R"("cow")").empty());
  CHECK(refused_part(R"({"const":"cat"})", R"("ca")") == "\"ca\"");
  CHECK(refused_part(R"({"maxLength":3})", "\"Hu\xE1\xBA\xBF\"").empty());
  CHECK(refused_part(R"({"maxLength":3})", "\"Hu\xE1\xBA\xBF!\"") == "\"Hu\xE1\xBA\xBF!");
  CHECK(refused_part(R"({"minLength":3})", R"("ab")") == R"("ab")");
}

TEST_CASE("a number is refused outside of its bounds, once it is whole") {
  CHECK(refused_part(R"({"minimum":10})", "[1]").empty());
  CHECK(refused_part(R"({"items":{"minimum":10}})", "[1,10]") == "[1,");
  CHECK(refused_part(R"({"items":{"minimum":10,"maximum":20,"multipleOf":5}})", "[10,20,15]").empty());
  CHECK(refused_part(R"({"items":{"maximum":20}})", "[20,21]") == "[20,21]");
}

TEST_CASE("an object is refused at a name that it may not have, at one too many, or where one is missing") {
  const std::string rules =
      R"({"properties":{"a":{},"b":{"type":"null"}},"required":["a"],"additionalProperties":false})";
  CHECK(refused_part(rules, R"({"a":1,"b":null})").empty());
  CHECK(refused_part(rules, R"({"c":1})") == R"({"c")");
  CHECK(refused_part(rules, R"({"a":1,"b":1})") == R"({"a":1,"b":1})");
  CHECK(refused_part(rules, R"({"b":null})") == R"({"b":null})");
  CHECK(refused_part(R"({"maxProperties":1})", R"({"a":1,"b":1})") == R"({"a":1,"b")");
  CHECK(refused_part(R"({"minProperties":2})", R"({"a":1})") == R"({"a":1})");
  CHECK(refused_part(R"({"additionalProperties":{"type":"null"}})", R"({"a":null,"b":""})") == R"({"a":null,"b":")");
}

TEST_CASE("an array is refused at an item that does not fit its place, at one too many, or where some are missing") {
  const std::string rules = R"({"prefixItems":[{"type":"string"}],"items":{"type":"null"}})";
  CHECK(refused_part(rules, R"(["a",null,null])").empty());
  CHECK(refused_part(rules, R"([null])") == "[null");
  CHECK(refused_part(rules, R"(["a",null,"b"])") == R"(["a",null,")");
  CHECK(refused_part(R"({"prefixItems":[{}],"items":false})", "[[1],2]") == "[[1],2]");
  CHECK(refused_part(R"({"maxItems":1})", "[[1,2],[]]") == "[[1,2],[");
  CHECK(refused_part(R"({"minItems":2})", "[[1,2]]") == "[[1,2]]");
}

TEST_CASE("a value inside another is held against its own place alone") {
  const std::string rules = R"({"properties":{"a":{"maxProperties":1,"items":{"type":"null"}}},"maxProperties":2})";
  CHECK(refused_part(rules, R"({"a":{"x":{"y":1,"z":2}},"b":{"c":1,"d":2,"e":3}})").empty());
  CHECK(refused_part(rules, R"({"a":{"x":1,"y")") == R"({"a":{"x":1,"y")");
  CHECK(refused_part(rules, R"({"a":[null,[],1]})") == R"({"a":[null,[)");
}

TEST_CASE("one alternative that still fits is enough, but where all have to fit one that does not is too many") {
  const std::string two =
      R"([{"required":["a"],"properties":{"a":{"type":"null"}}},{"properties":{"a":{"type":"string"}}}])";
  CHECK(refused_part(R"({"anyOf":)" + two + "}", R"({"a":null})").empty());
  CHECK(refused_part(R"({"oneOf":)" + two + "}", R"({"a":"b"})").empty());
  CHECK(refused_part(R"({"anyOf":)" + two + "}", R"({"a":[)") == R"({"a":[)");
  CHECK(refused_part(R"({"allOf":)" + two + "}", R"({"a":null})") == R"({"a":null)");
}

TEST_CASE("what fits by some of the alternatives at one place does not fit by others at the next") {
  const std::string rules =
      R"({"anyOf":[{"prefixItems":[{"const":1},{"const":2}]},{"prefixItems":[{"const":3},{"const":4}]}]})";
  CHECK(refused_part(rules, "[3,4,5]").empty());
  CHECK(refused_part(rules, "[1,4,5]") == "[1,4,");
}

TEST_CASE("checks are counted while they live, and none is left behind") {
  const JsonSchema schema(Json::parse(R"({"anyOf":[{},{}],"items":{"anyOf":[{},{}]}})"), "schema");
  ValueCheck::Effort effort;
  {
    ValueCheck check(schema.nodes(), 0, effort);
    CHECK(effort.checks == 3);
    CHECK(check.accept({JsonEvent::Kind::kBeginArray}));
    CHECK(check.accept({JsonEvent::Kind::kBeginArray}));
    CHECK(effort.checks == 6);
    CHECK(check.accept({JsonEvent::Kind::kEndArray}));
    CHECK(effort.checks == 3);
  }
  CHECK(effort.checks == 0);
}

TEST_CASE("where no more steps may be taken, what would have to be compared is let pass") {
  CheckedPrefix checked(Json{{"enum", std::vector<std::string>(16, "cat")}});
  CHECK(checked.refused_part_of(R"("dog")") == "\"d");
  CHECK(checked.effort.steps > 0);
  checked.effort.steps = kMostMatchSteps;
  CHECK(checked.refused_part_of(R"("dog")").empty());
  CHECK(checked.effort.steps == kMostMatchSteps);
}

TEST_CASE("a check that lies too deep holds its value against itself alone") {
  const JsonSchema schema(Json::parse(R"({"type":"array","items":{"type":"null"},"anyOf":[{"maxItems":1}]})"),
                          "schema");
  for (const bool is_too_deep : {false, true}) {
    CAPTURE(is_too_deep);
    ValueCheck::Effort effort;
    ValueCheck check(schema.nodes(), 0, effort, is_too_deep ? kDeepestMatch : kDeepestMatch - 1);
    CHECK(check.accept({JsonEvent::Kind::kBeginArray}));
    CHECK(check.accept({JsonEvent::Kind::kScalar, "", Json(nullptr)}));
    CHECK(check.accept({JsonEvent::Kind::kScalar, "", Json(1)}) == is_too_deep);
  }
  ValueCheck::Effort effort;
  ValueCheck outermost(schema.nodes(), 0, effort, kDeepestMatch);
  CHECK_FALSE(outermost.accept({JsonEvent::Kind::kBeginObject}));
}
