// What chat/dialects/reply_stream.hpp promises (ReplyStream), held against the streams of all dialects: each is read as
// its clients read it, and has to say the same of the same turn.
#include "chat/dialects/anthropic/anthropic_reply.hpp"
#include "chat/dialects/ollama/ollama_reply.hpp"
#include "chat/dialects/openai/openai_chat_reply.hpp"
#include "chat/dialects/openai/openai_completion.hpp"
#include "chat/dialects/openai/responses_reply.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// What one message of a stream says, whatever its dialect.
struct SaidInReply {
  std::string text{};
  std::string thinking{};
  std::vector<std::string> called{};    // names of tools
  std::optional<std::string> ending{};  // the dialect's word for how the answer has ended
  std::string error{};                  // the message of one
  Json notices{};
};

ReplyFacts facts_of_reply() {
  return {.id = "id-1",
          .model = "qwen \"3\"\n",
          .created_s = 1700000000,
          .created_iso = "2023-11-14T22:13:20Z",
          .request_id = "req-1",
          .fingerprint = "chat_7"};
}

std::string string_at(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : std::string();
}

std::optional<std::string> ending_at(const Json& object, const char* pointer) {
  const std::string word = string_at(object, pointer);
  return word.empty() ? std::nullopt : std::optional(word);
}

// Each dialect: its stream, and what its clients read in a message.

struct OfAnthropic {
  std::unique_ptr<ReplyStream> stream = std::make_unique<AnthropicStream>(facts_of_reply());
  static constexpr bool kNamesEvents = true;
  static SaidInReply read(const Json& message) {
    SaidInReply said;
    said.text = string_at(message, "/delta/text");
    said.thinking = string_at(message, "/delta/thinking");
    if (const std::string name = string_at(message, "/content_block/name"); !name.empty()) said.called = {name};
    said.ending = ending_at(message, "/delta/stop_reason");
    said.error = string_at(message, "/error/message");
    return said;
  }
};

template <OllamaSurface kSurface>
struct OfOllamaLines {
  std::unique_ptr<ReplyStream> stream = std::make_unique<OllamaStream>(kSurface, facts_of_reply());
  static constexpr bool kNamesEvents = false;
  static SaidInReply read(const Json& message) {
    const bool is_chat = kSurface == OllamaSurface::kChat;
    const Json part = is_chat ? message.value("message", Json::object()) : message;
    SaidInReply said;
    said.text = string_at(part, is_chat ? "/content" : "/response");
    said.thinking = string_at(part, "/thinking");
    for (const Json& call : part.value("tool_calls", Json::array())) said.called.push_back(call["function"]["name"]);
    if (message.value("done", false)) said.ending = message["done_reason"];
    said.error = string_at(message, "/error");
    return said;
  }
};
using OfOllamaChat = OfOllamaLines<OllamaSurface::kChat>;
using OfOllamaGenerate = OfOllamaLines<OllamaSurface::kGenerate>;

struct OfOpenAiChat {
  std::unique_ptr<ReplyStream> stream = std::make_unique<OpenAiChatStream>(
      facts_of_reply(), StreamFigures{.usage_at_end = true, .timings_per_token = true});
  static constexpr bool kNamesEvents = false;
  static SaidInReply read(const Json& message) {
    SaidInReply said;
    said.text = string_at(message, "/choices/0/delta/content");
    said.thinking = string_at(message, "/choices/0/delta/reasoning_content");
    if (const std::string name = string_at(message, "/choices/0/delta/tool_calls/0/function/name"); !name.empty()) {
      said.called = {name};
    }
    said.ending = ending_at(message, "/choices/0/finish_reason");
    said.error = string_at(message, "/error/message");
    return said;
  }
};

struct OfOpenAiCompletion {
  std::unique_ptr<ReplyStream> stream = std::make_unique<OpenAiCompletionStream>(facts_of_reply(), true);
  static constexpr bool kNamesEvents = false;
  static SaidInReply read(const Json& message) {
    SaidInReply said;
    said.text = string_at(message, "/choices/0/text");
    said.ending = ending_at(message, "/choices/0/finish_reason");
    said.error = string_at(message, "/error/message");
    return said;
  }
};

struct OfResponses {
  std::unique_ptr<ReplyStream> stream = std::make_unique<ResponsesStream>(facts_of_reply(), Json::object());
  static constexpr bool kNamesEvents = true;
  static SaidInReply read(const Json& message) {
    const std::string type = string_at(message, "/type");
    SaidInReply said;
    if (type == "response.output_text.delta") said.text = string_at(message, "/delta");
    if (type == "response.reasoning_summary_text.delta") said.thinking = string_at(message, "/delta");
    if (type == "response.function_call_arguments.done") said.called = {string_at(message, "/name")};
    if (type == "response.completed" || type == "response.incomplete") said.ending = type;
    said.error = string_at(message, "/response/error/message");
    return said;
  }
};

// A raw prompt has neither thinking nor calls, so that dialect leaves them out.
template <class Dialect>
constexpr bool kTellsAll = !std::is_same_v<Dialect, OfOpenAiCompletion>;

// The messages in what is sent, which has to be whole: a client that reads so far waits for nothing.
template <class Dialect>
std::vector<Json> whole_messages(const Dialect& dialect, std::string_view sent) {
  std::vector<Json> messages;
  const auto take = [&sent](std::string_view end) {
    const std::size_t size = sent.find(end);
    REQUIRE(size != std::string_view::npos);
    const std::string_view taken = sent.substr(0, size);
    sent.remove_prefix(size + end.size());
    return taken;
  };
  const bool is_lines = dialect.stream->content_type() == "application/x-ndjson";
  while (!sent.empty()) {
    if (is_lines) {
      messages.push_back(Json::parse(take("\n")));
      continue;
    }
    std::string name;
    if (Dialect::kNamesEvents) {
      const std::string_view line = take("\n");
      REQUIRE(line.starts_with("event: "));
      name = line.substr(7);
    }
    const std::string_view data = take("\n\n");
    REQUIRE(data.starts_with("data: "));
    REQUIRE(data.find('\n') == std::string_view::npos);
    if (data == "data: [DONE]") continue;
    messages.push_back(Json::parse(data.substr(6)));
    if (Dialect::kNamesEvents) CHECK(messages.back().at("type") == name);
  }
  return messages;
}

// All that a client has read.
template <class Dialect>
SaidInReply read_all(const Dialect& dialect, const std::vector<std::string>& sent) {
  SaidInReply all;
  for (const std::string& each : sent) {
    for (const Json& message : whole_messages(dialect, each)) {
      const SaidInReply said = Dialect::read(message);
      // Whatever comes behind its end a client may leave unread.
      const bool says_more = !said.text.empty() || !said.thinking.empty() || !said.called.empty();
      if (all.ending || !all.error.empty()) CHECK_FALSE(says_more);
      CHECK_FALSE((all.ending && said.ending));
      all.text += said.text;
      all.thinking += said.thinking;
      all.called.insert(all.called.end(), said.called.begin(), said.called.end());
      if (said.ending) all.ending = said.ending;
      if (!said.error.empty()) all.error = said.error;
      const Json* const notices =
          message.contains("rkllm")
              ? &message["rkllm"]
              : (message.contains(Json::json_pointer("/response/rkllm")) ? &message["response"]["rkllm"] : nullptr);
      if (notices == nullptr) continue;
      CHECK(all.notices.is_null());
      all.notices = *notices;
    }
  }
  return all;
}

// Texts that would end a message, or a member of one, if they stood in it as they are.
const std::vector<AnswerEvent>& events_of_reply() {
  static const std::vector<AnswerEvent> events{ThinkingDelta{"Hm\n\ndata: [DONE]\n\n"},
                                               ThinkingDelta{"\"}]}"},
                                               TextDelta{"event: error\ndata: {}\n\n"},
                                               TextDelta{"\\\"\r\n\t\x01\x7f Huế \u2028 𝛼"},
                                               TextDelta{"data: [DONE]"},
                                               ToolCall{"call-1", "look\"up", R"({"a":"b\n\n"})"},
                                               ToolCall{"call-2", "add", "{\"broken\noff"}};
  return events;
}
std::string text_of_reply(std::size_t events = events_of_reply().size()) {
  Answer answer;
  for (std::size_t at = 0; at < events; ++at) append(answer, events_of_reply()[at]);
  return answer.text;
}

// All that is sent of one answer, with heartbeats anywhere or nowhere.
enum class Beats { kNone, kEverywhere };
template <class Dialect>
std::vector<std::string> sent_of_answer(Dialect& dialect, Beats beats, const TurnBeginning& beginning = {},
                                        Finish finish = Finish::kStop) {
  std::vector<std::string> sent;
  const auto beat = [&] {
    if (beats == Beats::kEverywhere) sent.push_back(dialect.stream->heartbeat());
  };
  beat();
  dialect.stream->begun(beginning);
  std::int64_t tokens = 0;
  for (const AnswerEvent& event : events_of_reply()) {
    beat();
    ++tokens;
    dialect.stream->progress({tokens, 1.0, tokens});
    sent.push_back(dialect.stream->event(event, 0));
  }
  beat();
  sent.push_back(dialect.stream->end({.finish = finish}, 0));
  beat();
  sent.push_back(dialect.stream->finish({}));
  return sent;
}

}  // namespace

#define EVERY_DIALECT OfAnthropic, OfOllamaChat, OfOllamaGenerate, OfOpenAiChat, OfOpenAiCompletion, OfResponses

TEMPLATE_TEST_CASE("a stream of any dialect says all of an answer in whole messages, whatever stands in it", "",
                   EVERY_DIALECT) {
  TestType dialect;
  const SaidInReply said = read_all(dialect, sent_of_answer(dialect, Beats::kNone));
  CHECK(said.text == text_of_reply());
  CHECK(said.ending);
  CHECK(said.error.empty());
  if constexpr (kTellsAll<TestType>) {
    CHECK(said.thinking == "Hm\n\ndata: [DONE]\n\n\"}]}");
    CHECK(said.called == std::vector<std::string>{"look\"up", "add"});
  }
}

TEMPLATE_TEST_CASE("heartbeats of any dialect are whole messages that change nothing of the answer, wherever they come",
                   "", EVERY_DIALECT) {
  TestType dialect;
  TestType silent;
  const SaidInReply said = read_all(dialect, sent_of_answer(dialect, Beats::kEverywhere));
  const SaidInReply without = read_all(silent, sent_of_answer(silent, Beats::kNone));
  CHECK(said.text == without.text);
  CHECK(said.thinking == without.thinking);
  CHECK(said.called == without.called);
  CHECK(said.ending == without.ending);
}

TEMPLATE_TEST_CASE("a stream of any dialect tells once, at its end, what could not be honoured, and else nothing", "",
                   EVERY_DIALECT) {
  for (const Beats beats : {Beats::kNone, Beats::kEverywhere}) {
    TestType dialect;
    const TurnBeginning beginning{.ignored = {"top_k"}, .dropped_messages = 2, .search_failed = true};
    CHECK(read_all(dialect, sent_of_answer(dialect, beats, beginning)).notices ==
          Json{{"ignored", {"top_k"}}, {"dropped_messages", 2}, {"search", "failed"}});
    TestType other;
    CHECK(read_all(other, sent_of_answer(other, beats)).notices.is_null());
  }
}

TEMPLATE_TEST_CASE("a stream of any dialect that fails in the middle says why, and never that its answer has ended", "",
                   EVERY_DIALECT) {
  const TurnError error(ErrorKind::kRuntimeFailed, "the \"runtime\"\n\nhas failed");
  for (std::size_t events = 0; events <= events_of_reply().size(); ++events) {
    for (const bool beats : {false, true}) {
      INFO(events << " events" << (beats ? ", a heartbeat" : ""));
      TestType dialect;
      std::vector<std::string> sent;
      if (beats) sent.push_back(dialect.stream->heartbeat());
      dialect.stream->begun({});
      for (std::size_t at = 0; at < events; ++at) sent.push_back(dialect.stream->event(events_of_reply()[at], 0));
      sent.push_back(dialect.stream->error(error));
      const SaidInReply said = read_all(dialect, sent);
      CHECK(said.error == error.what());
      CHECK_FALSE(said.ending);
      CHECK(said.text == text_of_reply(events));
    }
  }
}

TEMPLATE_TEST_CASE("a stream of any dialect tells an answer that was cut off from one that is whole", "",
                   EVERY_DIALECT) {
  TestType whole;
  TestType cut;
  const auto ending_of_whole = read_all(whole, sent_of_answer(whole, Beats::kNone)).ending;
  const auto ending_of_cut = read_all(cut, sent_of_answer(cut, Beats::kNone, {}, Finish::kLength)).ending;
  REQUIRE((ending_of_whole && ending_of_cut));
  CHECK(*ending_of_whole != *ending_of_cut);
}

TEMPLATE_TEST_CASE("an answer of any dialect may be empty", "", EVERY_DIALECT) {
  TestType dialect;
  dialect.stream->begun({});
  const SaidInReply said = read_all(dialect, {dialect.stream->end({}, 0), dialect.stream->finish({})});
  CHECK(said.text.empty());
  CHECK(said.ending);
}
