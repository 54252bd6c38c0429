// Where a dialect meets HTTP: which words are spoken at which path. What they are is in tests/server/chat/dialects.
#include "chat/http/chat_job.hpp"

#include "chat/turn/context.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

ChatJob job_at(std::string_view path, Json request) {
  const ChatEndpoint* const endpoint = find_chat_endpoint(path);
  REQUIRE(endpoint != nullptr);
  if (!request.contains("model")) request["model"] = "qwen";
  return endpoint->read(request, {.id = "id-1", .model = "not this", .created_s = 7, .created_iso = "then"});
}

Json said_in_job(const std::string& text) { return Json::array({{{"role", "user"}, {"content", text}}}); }

// A request of that path for one answer as a whole.
Json request_for(std::string_view path) {
  if (path == "/v1/completions" || path == "/api/generate") return {{"prompt", "Hi"}, {"stream", false}};
  if (path == "/v1/responses") return {{"input", "Hi"}, {"stream", false}};
  return {{"messages", said_in_job("Hi")}, {"stream", false}, {"max_tokens", 5}};
}

Json whole_of(const ChatJob& job, const std::string& conversation = {}) {
  Answer answer;
  answer.text = "Hello";
  return Json::parse(job.whole({answer}, {}, conversation));
}

const std::vector<std::string> kJobPaths{"/v1/chat/completions", "/v1/completions", "/v1/responses",
                                         "/v1/messages",         "/api/chat",       "/api/generate"};

}  // namespace

TEST_CASE("turns are made at six paths, and each has its publisher's errors and ids") {
  const std::vector<std::pair<Surface, std::string>> expected{
      {Surface::kOpenAi, "chatcmpl-"}, {Surface::kOpenAi, "cmpl-"}, {Surface::kOpenAi, "resp_"},
      {Surface::kAnthropic, "msg_"},   {Surface::kOllama, ""},      {Surface::kOllama, ""}};
  for (std::size_t at = 0; at < kJobPaths.size(); ++at) {
    const ChatEndpoint* const endpoint = find_chat_endpoint(kJobPaths[at]);
    REQUIRE(endpoint != nullptr);
    CHECK(endpoint->path == kJobPaths[at]);
    CHECK(endpoint->surface == expected[at].first);
    CHECK(endpoint->prefix == expected[at].second);
  }
  for (const char* const other :
       {"", "/", "/v1/chat", "/v1/chat/completions/", "/v1/messages/count_tokens", "/api/tags"}) {
    CHECK(find_chat_endpoint(other) == nullptr);
  }
}

TEST_CASE("an answer as a whole has its dialect's form, and the model's name as the client gave it") {
  for (const std::string& path : kJobPaths) {
    INFO(path);
    const ChatJob job = job_at(path, request_for(path));
    CHECK(job.stream == nullptr);
    CHECK(job.turn.model == "qwen");
    CHECK(job.wish == OllamaWish::kAnswer);
    CHECK(job.loaded_reply.empty());
    const Json whole = whole_of(job);
    CHECK(whole["model"] == "qwen");
    if (path.starts_with("/v1/")) CHECK(whole["id"] == "id-1");
  }
  CHECK(whole_of(job_at(kJobPaths[0], request_for(kJobPaths[0])))["choices"][0]["message"]["content"] == "Hello");
  CHECK(whole_of(job_at(kJobPaths[1], request_for(kJobPaths[1])))["choices"][0]["text"] == "Hello");
  CHECK(whole_of(job_at(kJobPaths[2], request_for(kJobPaths[2])))["object"] == "response");
  CHECK(whole_of(job_at(kJobPaths[3], request_for(kJobPaths[3])))["content"][0]["text"] == "Hello");
  CHECK(whole_of(job_at(kJobPaths[4], request_for(kJobPaths[4])))["message"]["content"] == "Hello");
  CHECK(whole_of(job_at(kJobPaths[5], request_for(kJobPaths[5])))["response"] == "Hello");
}

TEST_CASE("an answer is streamed where that is asked for, in the form that the client reads") {
  for (const std::string& path : kJobPaths) {
    INFO(path);
    Json request = request_for(path);
    request["stream"] = true;
    const ChatJob job = job_at(path, request);
    REQUIRE(job.stream != nullptr);
    CHECK(job.stream->content_type() == (path.starts_with("/api/") ? "application/x-ndjson" : "text/event-stream"));
    job.stream->begun({});
    CHECK_THAT(job.stream->event(TextDelta{"Hello"}, 0), test::has_text("Hello"));
  }
}

TEST_CASE("the conversation that an answer of chat completions belongs to is told with it") {
  const ChatJob job = job_at("/v1/chat/completions", request_for("/v1/chat/completions"));
  CHECK(whole_of(job, "chat_7")["system_fingerprint"] == "chat_7");
  CHECK(whole_of(job).dump().find("chat_7") == std::string::npos);
}

TEST_CASE("fields that were not looked at are named, and wrong ones are thrown") {
  Json request = request_for("/v1/completions");
  CHECK(job_at("/v1/completions", request).ignored.empty());
  request["user"] = "somebody";
  CHECK(job_at("/v1/completions", request).ignored == std::vector<std::string>{"user"});
  for (const std::string& path : kJobPaths) {
    Json wrong = request_for(path);
    wrong["stream"] = "x";
    CHECK_THROWS_AS(job_at(path, wrong), TurnError);
  }
}

TEST_CASE("instructions of a response stand before its messages") {
  const ChatJob job = job_at("/v1/responses", {{"input", "Hi"}, {"instructions", "Be brief."}});
  REQUIRE(job.turn.messages.size() == 2);
  CHECK(job.turn.messages[0] == text_message(Role::kSystem, "Be brief."));
  CHECK(job.turn.messages[1] == text_message(Role::kUser, "Hi"));
  CHECK(job_at("/v1/responses", {{"input", "Hi"}}).turn.messages.size() == 1);
}

TEST_CASE("a response is kept under its id with what was asked and said, if the client wants it kept") {
  const ChatJob job = job_at("/v1/responses", {{"input", "Hi"}, {"store", true}, {"previous_response_id", "resp_0"}});
  CHECK(job.previous == "resp_0");
  CHECK(job.id == "id-1");
  REQUIRE(job.kept_items);
  Answer answer;
  answer.text = "Hello";
  const Json items = job.kept_items(answer);
  REQUIRE(items.size() == 2);
  CHECK_THAT(items[0].dump(), test::has_text("Hi") && test::has_text("user"));
  CHECK_THAT(items[1].dump(), test::has_text("Hello") && test::has_text("assistant"));
  CHECK(job.kept_items(answer) == items);  // it may be asked again
  Json whole = Json::parse(job.whole({answer}, {}, ""));
  CHECK(whole["store"] == true);
  REQUIRE(job.whole_unkept);
  whole["store"] = false;
  CHECK(Json::parse(job.whole_unkept({answer}, {}, "")) == whole);
  for (const Json& request : {Json{{"input", "Hi"}, {"store", false}}, Json{{"input", "Hi"}}}) {
    const ChatJob unkept = job_at("/v1/responses", request);
    CHECK_FALSE(unkept.kept_items);
    CHECK(unkept.id.empty());
    CHECK_FALSE(unkept.previous);
  }
  for (const std::string& path : kJobPaths) {
    if (path != "/v1/responses") CHECK_FALSE(job_at(path, request_for(path)).kept_items);
  }
}

TEST_CASE("Ollama's requests without a prompt only load or unload the model, and have their answer already") {
  const std::vector<std::pair<const char*, Json>> empty{{"/api/chat", {{"messages", Json::array()}}},
                                                        {"/api/generate", Json::object()}};
  for (const auto& [path, request] : empty) {
    INFO(path);
    const ChatJob load = job_at(path, request);
    CHECK(load.wish == OllamaWish::kLoad);
    CHECK(load.stream == nullptr);
    CHECK_FALSE(load.whole);
    const Json reply = Json::parse(load.loaded_reply);
    CHECK(reply["model"] == "qwen");
    CHECK(reply["done"] == true);
    CHECK(reply["done_reason"] == "load");
    Json leaving = request;
    leaving["keep_alive"] = 0;
    const ChatJob unload = job_at(path, leaving);
    CHECK(unload.wish == OllamaWish::kUnload);
    CHECK(Json::parse(unload.loaded_reply)["done_reason"] == "unload");
  }
}

TEST_CASE("an error has the form of whoever is spoken to") {
  const TurnError error = TurnError::bad_field("model", "missing");
  const ErrorReply openai = error_reply(Surface::kOpenAi, error, "req_1");
  CHECK(openai.status == 400);
  CHECK(Json::parse(openai.body)["error"]["param"] == "model");
  const ErrorReply ollama = error_reply(Surface::kOllama, error, "req_1");
  CHECK(ollama.status == 400);
  CHECK(Json::parse(ollama.body)["error"].is_string());
  const ErrorReply anthropic = error_reply(Surface::kAnthropic, error, "req_1");
  CHECK(anthropic.status == 400);
  CHECK(Json::parse(anthropic.body)["type"] == "error");
  CHECK(Json::parse(anthropic.body)["request_id"] == "req_1");
}
