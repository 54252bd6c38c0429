#include "chat/answer/call_text.hpp"

#include "support/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace rkllm_mcp::chat;

namespace {

using ReadCalls = std::optional<std::vector<WrittenCall>>;

ToolForm json_form() { return {}; }
ToolForm named_form() {
  ToolForm form;
  form.syntax = CallSyntax::kNamed;
  form.separator = "<sep>";
  return form;
}

ReadCalls in_json(const std::string& text) { return read_calls(json_form(), text); }
ReadCalls in_named(const std::string& text) { return read_calls(named_form(), text); }
ReadCalls one_call(const std::string& name, const std::string& arguments) {
  return std::vector<WrittenCall>{{name, arguments}};
}

}  // namespace

TEST_CASE("a call is an object with a name and arguments, in one line whatever it was written in") {
  REQUIRE(json_form().syntax != CallSyntax::kNamed);
  CHECK(in_json(R"({"name":"f","arguments":{"a":1}})") == one_call("f", R"({"a":1})"));
  CHECK(in_json("{\n \"name\": \"f\",\n \"arguments\": {\n \"a\": [1, 2]\n}\n}") == one_call("f", R"({"a":[1,2]})"));
  CHECK(in_json(R"({"name":"f","parameters":{"a":1}})") == one_call("f", R"({"a":1})"));
}

TEST_CASE("arguments may be absent, null, or an object inside a string") {
  CHECK(in_json(R"({"name":"f"})") == one_call("f", "{}"));
  CHECK(in_json(R"({"name":"f","arguments":null})") == one_call("f", "{}"));
  CHECK(in_json(R"({"name":"f","arguments":"{\"a\": 1}"})") == one_call("f", R"({"a":1})"));
}

TEST_CASE("an array has several calls, all of which must be some") {
  CHECK(in_json(R"([{"name":"f"},{"name":"g"}])") == ReadCalls(std::vector<WrittenCall>{{"f", "{}"}, {"g", "{}"}}));
  CHECK(in_json("[]") == std::nullopt);
  CHECK(in_json(R"([{"name":"f"},{"name":7}])") == std::nullopt);
}

TEST_CASE("what is not exactly a call is none") {
  for (const auto* text :
       {"", "f", "7", "null", "{}", R"({"name":""})", R"({"name":null})", R"({"arguments":{}})",
        R"({"name":"f","arguments":[1]})", R"({"name":"f","arguments":7})", R"({"name":"f","arguments":"a"})",
        R"({"name":"f","arguments":"[1]"})", R"({"name":"f"} and more)", R"({"name":"f")"}) {
    INFO(text);
    CHECK(in_json(text) == std::nullopt);
  }
}

TEST_CASE("a call by its name has its arguments below, with or without a fence") {
  CHECK(in_named("function<sep>f\n```json\n{\"a\": 1}\n```") == one_call("f", R"({"a":1})"));
  CHECK(in_named("function<sep> f \n{\"a\":1}\n") == one_call("f", R"({"a":1})"));
  CHECK(in_named("<sep>f\n```\n{}\n```") == one_call("f", "{}"));
}

TEST_CASE("a call by its name that lacks something is none") {
  for (const auto* text :
       {"", "f\n{}", "<sep>f", "<sep>\n{}", "<sep>f\n", "<sep>f\n[1]", "<sep>f\n{", "<sep>f\nwords"}) {
    INFO(text);
    CHECK(in_named(text) == std::nullopt);
  }
}
