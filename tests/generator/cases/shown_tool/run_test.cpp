#include "expected.hpp"

#include "golden_caller.hpp"

namespace rkllm_mcp::v1_shown_tool {

using namespace bindgen::test;

namespace {

int say_nothing(Words*) { return 0; }

}  // namespace

TEST_CASE("a text that means nothing to the function is refused") {
  GoldenCaller caller(kAbiSet, {{"say", symbol(&say_nothing)}, {"say_also", symbol(&say_nothing)}});
  const auto words = [](Json role) { return Json{{"words", {{"text", "Hello"}, {"role", std::move(role)}}}}; };
  CHECK(caller.call("say", words("tool")) == Json{{"status", 0}});
  CHECK(caller.call("say", words(nullptr)) == Json{{"status", 0}});
  CHECK_THAT(caller.complaint("say", words("users")),
             has_text("params.words.role: expected one of user, tool, found \"users\"; did you mean \"user\"?"));
}

TEST_CASE("lists of tools show few words, one type for each value, and one of two tools that do the same") {
  REQUIRE(kAbiSet.methods.size() == 2);
  CHECK(kAbiSet.methods[0].listed);
  CHECK_FALSE(kAbiSet.methods[1].listed);
  const Json words = Json::parse(kAbiSet.methods[0].tool_input_schema).at("properties").at("words");
  CHECK(words.at("properties") == Json::parse(R"({
    "text": {"type": "string", "description": "The text."},
    "role": {"type": "string", "enum": ["user", "tool"]},
    "kind": {"type": "string", "description": "One or two.", "enum": ["kOne", "kTwo"], "default": "kOne"}})"));
  CHECK(words.at("required") == Json({"text"}));
}

}  // namespace rkllm_mcp::v1_shown_tool
