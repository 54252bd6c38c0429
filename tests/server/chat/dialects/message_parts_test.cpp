#include "chat/dialects/message_parts.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

ImagePart image_of(const std::string& address) {
  const Json value = address;
  return image_of_address(JsonReader(value, "url"));
}

std::vector<std::string> stops_of(const Json& value) { return read_stops(JsonReader(value, "stop"), 2); }

std::string arguments_from(const Json& value) { return read_arguments(JsonReader(value, "arguments")); }

std::vector<ToolCall> calls_of(const Json& value) {
  ChatMessage message;
  read_tool_calls(JsonReader(value, "tool_calls"), message);
  return message.calls;
}

ChatMessage result_of_call(const std::string& id, const std::string& tool = "") {
  ChatMessage message = text_message(Role::kTool, "42");
  message.call_id = id;
  message.tool_name = tool;
  return message;
}

ChatMessage calling(const std::vector<ToolCall>& calls) {
  ChatMessage message = text_message(Role::kAssistant, "");
  message.calls = calls;
  return message;
}

}  // namespace

TEST_CASE("the parts of a content are an array, and anything else is refused as no string either") {
  const Json parts = Json::array({1, "two"});
  CHECK(parts_of(JsonReader(parts, "content")) == parts);
  for (const Json& other : {Json(5), Json::object()}) {
    CHECK_THROWS_WITH(parts_of(JsonReader(other, "content")),
                      rkllm_mcp::test::has_text("content: expected string or array of parts"));
  }
}

TEST_CASE("a picture is read from its address, as it stands there") {
  CHECK(image_of("data:image/png;base64,aGk=") == ImagePart{"image/png", "aGk="});
  CHECK(image_of("data:;base64,") == ImagePart{"", ""});
  CHECK(image_of("data:image/svg+xml;charset=utf-8;base64,a,b") == ImagePart{"image/svg+xml;charset=utf-8", "a,b"});
}

TEST_CASE("an address that is to be fetched, or is not in base64, is refused") {
  for (const std::string address : {"https://example.org/a.png", "", "data:image/png;base64", "DATA:;base64,aGk="}) {
    CAPTURE(address);
    CHECK_THROWS_WITH(image_of(address), "url: expected a data: address; this server fetches no pictures");
  }
  CHECK_THROWS_WITH(image_of("data:image/png,aGk="), "url: expected base64 in the data: address");
  CHECK_THROWS_AS(image_of("data:,aGk="), InvalidParams);
}

TEST_CASE("stop strings are one string or some, and an empty one alone is none") {
  CHECK(stops_of("a") == std::vector<std::string>{"a"});
  CHECK(stops_of("").empty());
  CHECK(stops_of(Json::array()).empty());
  CHECK(stops_of({"a", "\xE1\xBA\xBF"}) == std::vector<std::string>{"a", "\xE1\xBA\xBF"});
  CHECK_THROWS_WITH(stops_of({"a", "b", "c"}), "stop: expected at most 2 strings");
  CHECK_THROWS_WITH(stops_of({"a", ""}), "stop[1]: expected a string that is not empty");
  CHECK_THROWS_AS(stops_of({"a", 1}), InvalidParams);
  CHECK_THROWS_AS(stops_of(Json{{"a", "b"}}), InvalidParams);
}

TEST_CASE("arguments are the text of an object in one line, however a client sends them") {
  CHECK(arguments_from(Json{{"a", {1, 2}}}) == R"({"a":[1,2]})");
  CHECK(arguments_from("{ \"a\" :\n[1, 2] }") == R"({"a":[1,2]})");
  CHECK(arguments_from("") == "{}");
  CHECK(arguments_from(Json::object()) == "{}");
}

TEST_CASE("arguments of a call that broke off, or are no object, stay as they are") {
  for (const std::string text : {"{\"a\": 1", "[1, 2]", "null", "hello"}) {
    CAPTURE(text);
    CHECK(arguments_from(text) == text);
  }
  CHECK_THROWS_AS(arguments_from(5), InvalidParams);
  CHECK_THROWS_AS(arguments_from(Json::array()), InvalidParams);
}

TEST_CASE("calls are read in their order, and may have no id and no arguments") {
  const Json calls = Json::parse(
      R"([{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"function":{"name":"g"}}])");
  CHECK(calls_of(calls) == std::vector<ToolCall>{{"1", "f", R"({"a":1})"}, {"", "g", "{}"}});
  CHECK(calls_of(Json::array()).empty());
}

TEST_CASE("a call that names no function is refused with its place") {
  CHECK_THROWS_WITH(calls_of(Json::parse(R"([{"function":{"name":"f"}},{"id":"2"}])")),
                    rkllm_mcp::test::has_text("tool_calls[1].function"));
  CHECK_THROWS_WITH(calls_of(Json::parse(R"([{"function":{}}])")),
                    rkllm_mcp::test::has_text("tool_calls[0].function.name"));
  CHECK_THROWS_WITH(calls_of(Json::parse(R"([{"function":{"name":"f","arguments":1}}])")),
                    rkllm_mcp::test::has_text("tool_calls[0].function.arguments"));
  CHECK_THROWS_AS(calls_of(Json::object()), InvalidParams);
  CHECK_THROWS_AS(calls_of({5}), InvalidParams);
}

TEST_CASE("a result has the name of the tool of the latest call before it that has its id") {
  std::vector<ChatMessage> messages{result_of_call("1"),         calling({{"1", "f", "{}"}, {"2", "g", "{}"}}),
                                    result_of_call("2"),         result_of_call("1"),
                                    calling({{"1", "h", "{}"}}), result_of_call("1")};
  name_tool_results(messages);
  std::vector<std::string> names;
  for (const ChatMessage& message : messages) names.push_back(message.tool_name);
  CHECK(names == std::vector<std::string>{"", "", "g", "f", "", "h"});
}

TEST_CASE("a name that a result has already stays, and what is no result gets none") {
  ChatMessage user = text_message(Role::kUser, "Hi");
  user.call_id = "1";
  std::vector<ChatMessage> messages{calling({{"1", "f", "{}"}}), result_of_call("1", "own"), user, result_of_call("3")};
  name_tool_results(messages);
  CHECK(messages[1].tool_name == "own");
  CHECK(messages[2].tool_name.empty());
  CHECK(messages[3].tool_name.empty());
}
