// What other servers are asked for texts, and what they answer, in pieces of every size.
#include "chat/assistant/providers/remote_protocol.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp::chat;
using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;

namespace {

struct Read {
  Answer answer;
  std::string complaint;
};

Read read(ProviderKind kind, bool is_stream, const std::string& body, std::size_t piece) {
  RemoteAnswer reader(kind, is_stream);
  Read result;
  const auto take = [&](const std::vector<AnswerEvent>& events) {
    for (const AnswerEvent& event : events) append(result.answer, event);
  };
  for (std::size_t at = 0; at < body.size(); at += piece) take(reader.feed(std::string_view(body).substr(at, piece)));
  take(reader.finish());
  result.answer.end = reader.end();
  result.complaint = reader.complaint();
  return result;
}

TextWish wish(Purpose purpose) {
  TextWish wish{purpose, {}};
  wish.turn.messages = {text_message(Role::kSystem, "Be brief."), text_message(Role::kUser, "Why?")};
  wish.turn.max_tokens = 20;
  wish.turn.sampling.temperature = 0.5;
  wish.turn.stop = {"."};
  return wish;
}

Profile profile(ProviderKind kind, const std::string& url) {
  Profile profile;
  profile.provider = kind;
  profile.url = url;
  profile.model = "big";
  profile.guardrail = Guardrail{.model = "small"};
  return profile;
}

}  // namespace

TEST_CASE("Ollama's lines are an answer, however they are cut") {
  const std::string body =
      "{\"response\":\"\",\"thinking\":\"Hm\",\"done\":false}\n{\"response\":\"Ră\",\"done\":false}\n{\"response\":"
      "\"ng\",\"done\":false}\n"
      "{\"response\":\"\",\"done\":true,\"done_reason\":\"length\",\"prompt_eval_count\":7,\"eval_count\":3}\n";
  for (std::size_t piece = 1; piece < body.size(); ++piece) {
    const Read result = read(ProviderKind::kOllama, true, body, piece);
    CHECK(result.complaint.empty());
    CHECK(result.answer.text == "Răng");
    CHECK(result.answer.thinking == "Hm");
    CHECK(result.answer.end.finish == Finish::kLength);
    CHECK(result.answer.end.usage.prompt == 7);
    CHECK(result.answer.end.usage.generated == 3);
  }
  const Read whole = read(ProviderKind::kOllama, false, R"({"response":"YES","done":true,"done_reason":"stop"})", 5);
  CHECK(whole.complaint.empty());
  CHECK(whole.answer.text == "YES");
}

TEST_CASE("OpenAI's events are an answer, however they are cut") {
  const std::string body =
      ": a comment\r\n\r\ndata: "
      "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\r\n\r\n"
      "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"Hm\",\"reasoning\":\"Hm\"}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"Two.\"},\"finish_reason\":null}]}\n\n"
      "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";
  for (std::size_t piece = 1; piece < body.size(); ++piece) {
    const Read result = read(ProviderKind::kOpenAi, true, body, piece);
    CHECK(result.complaint.empty());
    CHECK(result.answer.text == "Two.");
    CHECK(result.answer.thinking == "Hm");
    CHECK(result.answer.end.usage.prompt == 5);
    CHECK(result.answer.end.usage.generated == 2);
  }
  const Read whole = read(ProviderKind::kOpenAi, false,
                          R"({"choices":[{"message":{"content":"No."},"finish_reason":"length"}],"usage":null})", 9);
  CHECK(whole.answer.text == "No.");
  CHECK(whole.answer.end.finish == Finish::kLength);
  CHECK_FALSE(whole.answer.end.usage.prompt);
}

TEST_CASE("an answer that breaks off, says what is wrong or is none is a complaint") {
  CHECK(read(ProviderKind::kOllama, true, "{\"response\":\"a\",\"done\":false}\n", 9).complaint ==
        "the answer has no end");
  CHECK(read(ProviderKind::kOllama, true, "{\"error\":\"out of memory\"}\n{\"response\":\"a\"}\n", 9).complaint ==
        "out of memory");
  CHECK(read(ProviderKind::kOpenAi, true, "data: {\"error\":{\"message\":\"overloaded\"}}\n\n", 9).complaint ==
        "overloaded");
  CHECK_THAT(read(ProviderKind::kOpenAi, false, "<html>", 9).complaint, has_text("its answer is no JSON: "));
  CHECK(read(ProviderKind::kOpenAi, false, "7", 9).complaint == "its answer is no JSON object");
  CHECK_THAT(read(ProviderKind::kOllama, true, R"({"done":false,"done":true})", 9).complaint,
             has_text("\"done\" occurs twice"));
  CHECK(read(ProviderKind::kOpenAi, false, "", 9).complaint == "the answer has no end");
  CHECK(read(ProviderKind::kOpenAi, false, R"({"choices":[7]})", 9).complaint == "the answer has no end");
  CHECK(complaint_in(R"({"error":"model not found"})") == "model not found");
  CHECK(complaint_in(R"([{"error":{"code":400,"message":"bad key"}}])") == "bad key");
  CHECK(complaint_in("<html>").empty());
  CHECK(complaint_in(R"({"error":null})").empty());
}

TEST_CASE(
    "Ollama is asked with prompt, system text and options, where the guardrail's model is another one, and not "
    "streamed") {
  const auto asked = remote_request(profile(ProviderKind::kOllama, "http://board:11434/"), wish(Purpose::kAnswer));
  CHECK(asked.url.text() == "http://board:11434/api/generate");
  CHECK(Json::parse(asked.body) ==
        Json{{"prompt", "Why?"},
             {"system", "Be brief."},
             {"options", {{"num_predict", 20}, {"temperature", 0.5}, {"stop", Json::array({"."})}}},
             {"model", "big"},
             {"stream", true}});
  const auto guard =
      Json::parse(remote_request(profile(ProviderKind::kOllama, "http://b"), wish(Purpose::kGuardrail)).body);
  CHECK(guard["model"] == "small");
  CHECK(guard["stream"] == false);
  CHECK(guard["think"] == false);
}

TEST_CASE("an answer that is nested beyond all measure is none, wherever it is") {
  const std::string deep(100'000, '[');
  const std::string shut(100'000, ']');
  const Read ollama = read(ProviderKind::kOllama, true, R"({"response":)" + deep + shut + "}\n", 4'096);
  CHECK_THAT(ollama.complaint, has_text("nested deeper than 64 levels"));
  const Read openai =
      read(ProviderKind::kOpenAi, true, R"(data: {"choices":[{"delta":)" + deep + shut + "}]}\n\n", 4'096);
  CHECK_THAT(openai.complaint, has_text("nested deeper than 64 levels"));
  CHECK(complaint_in("[" + deep + shut + "]").empty());
}

TEST_CASE("OpenAI's servers are asked below the path of the profile's address") {
  const auto asked =
      remote_request(profile(ProviderKind::kOpenAi, "https://example.org/v1beta/openai"), wish(Purpose::kAnswer));
  CHECK(asked.url.text() == "https://example.org/v1beta/openai/chat/completions");
  CHECK(Json::parse(asked.body) == Json{{"messages", Json::array({{{"role", "system"}, {"content", "Be brief."}},
                                                                  {{"role", "user"}, {"content", "Why?"}}})},
                                        {"max_tokens", 20},
                                        {"temperature", 0.5},
                                        {"stop", Json::array({"."})},
                                        {"stream_options", {{"include_usage", true}}},
                                        {"model", "big"},
                                        {"stream", true}});
  const auto summary =
      Json::parse(remote_request(profile(ProviderKind::kOpenAi, "http://b"), wish(Purpose::kSummary)).body);
  CHECK(summary["model"] == "big");
  CHECK_FALSE(summary.contains("stream_options"));
}
