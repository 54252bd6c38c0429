#include "client/mcp/message_facts.hpp"

#include "support/catch.hpp"

using rkllm_mcp::Json;
using namespace rkllm_mcp::client;

TEST_CASE("a request, a notification, an answer and a batch are told apart by their ids") {
  const auto request = facts_of(R"({"jsonrpc":"2.0","id":"a","method":"tools/list"})");
  CHECK(request.requests == std::vector<Json>{"a"});
  CHECK(request.method == "tools/list");
  CHECK_FALSE(request.is_modern());
  const auto notification = facts_of(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(notification.requests.empty());
  CHECK(notification.method == "notifications/initialized");
  CHECK(facts_of(R"({"jsonrpc":"2.0","id":3,"result":{}})").answers == std::vector<Json>{3});
  CHECK(facts_of(R"({"jsonrpc":"2.0","id":3,"error":{}})").answers == std::vector<Json>{3});
  CHECK(facts_of(R"({"jsonrpc":"2.0","id":null,"error":{}})").answers.empty());
  const auto batch = facts_of(R"([{"id":1,"method":"a"},{"method":"b"},{"id":2,"result":{}},7])");
  CHECK(batch.requests == std::vector<Json>{1});
  CHECK(batch.answers == std::vector<Json>{2});
}

TEST_CASE("a message of the modern era is known by its _meta, and by what it is about") {
  const auto facts_with = [](const char* method, const char* key) {
    const Json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}};
    return facts_of(Json{{"id", 1}, {"method", method}, {"params", {{key, "it"}, {"_meta", meta}}}}.dump());
  };
  CHECK(facts_with("tools/call", "name").revision == "2026-07-28");
  CHECK(facts_with("tools/call", "name").name == "it");
  CHECK(facts_with("prompts/get", "name").name == "it");
  CHECK(facts_with("resources/read", "uri").name == "it");
  CHECK(facts_with("tasks/get", "taskId").name == "it");
  CHECK(facts_with("tools/list", "name").name.empty());
}

TEST_CASE("a cancellation names its request with the type that it has") {
  CHECK(facts_of(R"({"method":"notifications/cancelled","params":{"requestId":5}})").cancels == 5);
  CHECK(facts_of(R"({"method":"notifications/cancelled","params":{"requestId":"5"}})").cancels == "5");
  CHECK(facts_of(R"({"method":"notifications/cancelled","params":[]})").cancels.is_null());
}

TEST_CASE("an id is a string or a number") {
  for (const char* id : {"true", "{}", "[1]", "null"}) {
    INFO(id);
    const std::string text =
        R"({"id":)" + std::string(id) + R"(,"method":"notifications/cancelled","params":{"requestId":)" + id + "}}";
    CHECK(facts_of(text).requests.empty());
    CHECK(facts_of(text).cancels.is_null());
  }
}

TEST_CASE("what is no message has no facts") {
  for (const char* text :
       {"", "{", "3", "null", "\"x\"", "[1,[2]]", R"({"params":3})", R"({"method":7,"params":{}})"}) {
    const auto facts = facts_of(text);
    CHECK(facts.requests.empty());
    CHECK(facts.answers.empty());
    CHECK(facts.method.empty());
  }
  const std::string deep = R"({"method":"x","id":)" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  CHECK(facts_of(deep).method.empty());
}

TEST_CASE("an error in the server's stead is one line of JSON, whatever the complaint") {
  const std::string text = error_in_place("id", "two\nlines, and half a character: \xC3", {{"url", "tcp://h:1"}});
  CHECK(text.find('\n') == std::string::npos);
  const Json message = Json::parse(text);
  CHECK(message["id"] == "id");
  CHECK(message["error"]["code"] == -32603);
  CHECK(message["error"]["data"]["url"] == "tcp://h:1");
}
