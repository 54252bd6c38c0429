#include "chat/dialects/openai/openai_chat_reply.hpp"

#include "support/catch.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

const ReplyFacts kChatFacts{.id = "chatcmpl-1", .model = "qwen", .created_s = 1700000000};

Usage some_usage() { return {.prompt = 10, .cached = 4, .generated = 5, .reasoning = 2}; }

AnswerEnd some_end(Finish finish = Finish::kStop) {
  return {
      .finish = finish, .usage = some_usage(), .timings = {.prefill_ms = 3.0, .generate_ms = 50.0, .timed_tokens = 4}};
}

// In order, which `+` does not promise.
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

// The JSON of each "data:" line; a line that is none fails.
std::vector<Json> chunks_of(const std::string& stream) {
  std::vector<Json> chunks;
  for (std::size_t at = 0; at < stream.size();) {
    const auto end = stream.find("\n\n", at);
    REQUIRE(end != std::string::npos);
    REQUIRE(stream.compare(at, 6, "data: ") == 0);
    const std::string data = stream.substr(at + 6, end - at - 6);
    chunks.push_back(data == "[DONE]" ? Json(data) : Json::parse(data));
    at = end + 2;
  }
  return chunks;
}

}  // namespace

TEST_CASE("a whole completion has every published member") {
  Answer answer{.thinking = "Hm.", .text = "Huế \"1\"", .end = some_end()};
  CHECK(Json::parse(openai_chat_reply(kChatFacts, {answer}, some_usage())) == Json::parse(R"({
      "id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"qwen",
      "choices":[{"index":0,"message":{"role":"assistant","content":"Huế \"1\"","refusal":null,"reasoning_content":"Hm.","reasoning":"Hm."},
        "logprobs":null,"finish_reason":"stop"}],
      "usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},
        "completion_tokens_details":{"reasoning_tokens":2}},
      "system_fingerprint":null,
      "timings":{"cache_n":4,"prompt_n":6,"prompt_ms":3.0,"prompt_per_token_ms":0.5,"prompt_per_second":2000.0,"predicted_n":5,
        "predicted_ms":50.0,"predicted_per_token_ms":12.5,"predicted_per_second":80.0}})"));
}

TEST_CASE("calls, several answers, a conversation, and figures that are not known") {
  Answer calls{.calls = {{"c1", "f", R"({"a":1})"}}, .end = some_end(Finish::kToolCalls)};
  ReplyFacts facts = kChatFacts;
  facts.fingerprint = "chat_7";
  const Json reply = Json::parse(openai_chat_reply(facts, {calls, {.end = {.finish = Finish::kLength}}}, {}));
  CHECK(reply["choices"][0]["message"] == Json::parse(R"({"role":"assistant","content":null,"refusal":null,
      "tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]})"));
  CHECK(reply["choices"][0]["finish_reason"] == "tool_calls");
  CHECK(reply["choices"][1]["index"] == 1);
  CHECK(reply["choices"][1]["finish_reason"] == "length");
  CHECK(reply["choices"][1]["message"]["content"] == "");
  CHECK(reply["usage"].is_null());
  CHECK(reply["timings"]["prompt_n"].is_null());
  CHECK(reply["timings"]["predicted_per_second"].is_null());
  CHECK(reply["system_fingerprint"] == "chat_7");
}

TEST_CASE("a stream: the role once, pieces, the finish, the usage, the end") {
  OpenAiChatStream stream(kChatFacts, {.usage_at_end = true});
  std::string sent = stream.event(ThinkingDelta{"Hm"}, 0);
  sent += stream.event(TextDelta{"a\n\"é"}, 0);
  sent += stream.event(ToolCall{"c1", "f", R"({"a":1})"}, 0);
  sent += stream.event(ToolCall{"c2", "g", "{}"}, 0);
  sent += stream.end(some_end(Finish::kToolCalls), 0);
  sent += stream.finish(some_usage());
  const auto chunks = chunks_of(sent);
  REQUIRE(chunks.size() == 10);
  CHECK(chunks[0] ==
        Json::parse(R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"qwen",
      "system_fingerprint":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,
      "finish_reason":null}],"usage":null})"));
  const auto delta = [&chunks](std::size_t i) { return chunks[i]["choices"][0]["delta"].dump(); };
  CHECK(delta(1) == R"({"reasoning_content":"Hm","reasoning":"Hm"})");
  CHECK(delta(2) == R"({"content":"a\n\"é"})");
  CHECK(delta(3) ==
        R"({"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":""},"index":0}]})");
  CHECK(delta(4) == R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":1}"}}]})");
  CHECK(chunks[5]["choices"][0]["delta"]["tool_calls"][0]["index"] == 1);
  CHECK(delta(7) == "{}");
  CHECK(chunks[7]["choices"][0]["finish_reason"] == "tool_calls");
  CHECK(chunks[7]["timings"]["predicted_n"] == 5);
  CHECK(chunks[8]["choices"] == Json::array());
  CHECK(chunks[8]["usage"]["total_tokens"] == 15);
  CHECK(chunks[9] == "[DONE]");
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(chunks[i]["id"] == "chatcmpl-1");
    CHECK((chunks[i].contains("usage") && chunks[i]["usage"].is_null()));
  }
}

TEST_CASE("a stream without usage does not speak of it") {
  OpenAiChatStream stream(kChatFacts, {});
  const auto chunks =
      chunks_of(joined({stream.event(TextDelta{"a"}, 0), stream.end(some_end(), 0), stream.finish(some_usage())}));
  REQUIRE(chunks.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK_FALSE(chunks[i].contains("usage"));
  CHECK(chunks[2]["choices"][0]["finish_reason"] == "stop");
  CHECK(chunks[3] == "[DONE]");
}

TEST_CASE(
    "with timings_per_token each chunk of an answer says how far it is, and the last one has the runtime's figures") {
  OpenAiChatStream stream(kChatFacts, {.timings_per_token = true});
  std::string text;
  stream.progress({1, 0, 0});
  text += stream.event(TextDelta{"a"}, 0);
  stream.progress({2, 100, 1});
  stream.progress({3, 200, 2});
  text += stream.event(ThinkingDelta{"b"}, 0);
  const auto chunks = chunks_of(text + stream.end(some_end(), 0));
  REQUIRE(chunks.size() == 4);  // the first has the role
  CHECK_FALSE(chunks[0].contains("timings"));
  CHECK(chunks[1]["timings"] == Json::parse(R"({"predicted_n":1,"predicted_ms":0.0,"predicted_per_second":null})"));
  CHECK(chunks[2]["timings"] == Json::parse(R"({"predicted_n":3,"predicted_ms":200.0,"predicted_per_second":10.0})"));
  CHECK(chunks[3]["timings"]["predicted_n"] == 5);
  OpenAiChatStream without(kChatFacts, {});
  without.progress({1, 0, 0});
  CHECK(without.event(TextDelta{"a"}, 0).find("timings") == std::string::npos);
}

TEST_CASE("heartbeats are chunks, and the first of all has the role") {
  OpenAiChatStream stream(kChatFacts, {});
  const auto chunks = chunks_of(joined({stream.heartbeat(), stream.heartbeat(), stream.event(TextDelta{"a"}, 0)}));
  REQUIRE(chunks.size() == 3);
  CHECK(chunks[0]["choices"][0]["delta"]["role"] == "assistant");
  CHECK(chunks[1]["choices"][0]["delta"] == Json::object());
  CHECK(chunks[2]["choices"][0]["delta"] == Json{{"content", "a"}});
}

TEST_CASE(
    "what is known when the answer begins stands in its finish chunk, since a heartbeat may have sent the headers") {
  OpenAiChatStream stream(kChatFacts, {});
  std::string sent = stream.heartbeat();
  stream.begun({.ignored = {"seed"}, .dropped_messages = 2, .conversation = "chat_7", .search_failed = true});
  sent += stream.event(TextDelta{"a"}, 0);
  const auto chunks = chunks_of(sent + stream.end(some_end(), 0));
  REQUIRE(chunks.size() == 3);
  CHECK_FALSE(chunks[1].contains("rkllm"));
  CHECK(chunks[1]["system_fingerprint"] == "chat_7");
  CHECK(chunks[2]["rkllm"] == Json::parse(R"({"ignored":["seed"],"dropped_messages":2,"search":"failed"})"));
  OpenAiChatStream other(kChatFacts, {});
  other.begun({.conversation = "chat_7"});
  CHECK_FALSE(chunks_of(other.end(some_end(), 0)).back().contains("rkllm"));
}

TEST_CASE("several answers have a role each") {
  OpenAiChatStream stream(kChatFacts, {});
  const auto chunks =
      chunks_of(joined({stream.event(TextDelta{"a"}, 0), stream.end(some_end(), 0), stream.event(TextDelta{"b"}, 1),
                        stream.end(some_end(Finish::kContentFilter), 1)}));
  REQUIRE(chunks.size() == 6);
  CHECK(chunks[3]["choices"][0]["index"] == 1);
  CHECK(chunks[3]["choices"][0]["delta"]["role"] == "assistant");
  CHECK(chunks[5]["choices"][0]["finish_reason"] == "content_filter");
}

TEST_CASE("an empty answer is a role and a finish") {
  OpenAiChatStream stream(kChatFacts, {});
  CHECK(chunks_of(stream.end(some_end(), 0)).size() == 2);
}

TEST_CASE("errors have OpenAI's form and status") {
  const ErrorReply model = openai_error_reply(TurnError::unknown_model("gpt"));
  CHECK(model.status == 404);
  CHECK(Json::parse(model.body)["error"]["code"] == "model_not_found");
  const ErrorReply context = openai_error_reply(TurnError::context_exceeded(std::nullopt, 512));
  CHECK(context.status == 400);
  const Json error = Json::parse(context.body)["error"];
  CHECK(error["code"] == "context_length_exceeded");
  CHECK(error["n_prompt_tokens"].is_null());
  CHECK(error["n_ctx"] == 512);
  const Json field = openai_error(TurnError::bad_field("messages[0].role", "missing"))["error"];
  CHECK(field == Json{{"message", "messages[0].role: missing"},
                      {"type", "invalid_request_error"},
                      {"param", "messages[0].role"},
                      {"code", "invalid_value"}});
  const ErrorReply full = openai_error_reply(TurnError::try_later(ErrorKind::kQueueFull, "full", 7));
  CHECK(full.status == 503);
  CHECK(full.retry_after == "7");
  for (const auto& [kind, status] : std::vector<std::pair<ErrorKind, int>>{{ErrorKind::kUnauthorized, 401},
                                                                           {ErrorKind::kForbidden, 403},
                                                                           {ErrorKind::kUpstream, 502},
                                                                           {ErrorKind::kNotSupported, 400},
                                                                           {ErrorKind::kTooLarge, 413},
                                                                           {ErrorKind::kNoRoom, 503},
                                                                           {ErrorKind::kNotKept, 404},
                                                                           {ErrorKind::kInternal, 500}}) {
    CHECK(openai_error_reply(TurnError(kind, "x")).status == status);
  }
  OpenAiChatStream stream(kChatFacts, {});
  CHECK(chunks_of(stream.error(TurnError(ErrorKind::kRuntimeFailed, "it died")))[0]["error"]["message"] == "it died");
}
