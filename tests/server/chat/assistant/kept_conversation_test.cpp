// Against a memory server that a test writes.
#include "chat/assistant/kept_conversation.hpp"

#include "chat/assistant/servers/mcp_host.hpp"
#include "server/chat/assistant/scripted_assistant.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using chat::KeptConversation;

Json one_said(const std::string& role, const std::string& content) { return {{"role", role}, {"content", content}}; }

// A conversation that a client calls "mine" and the memory server 7.
struct ConversationBench {
  explicit ConversationBench(chat::SummaryUse summary = chat::SummaryUse::kNone) {
    auto made = std::make_unique<chat::testing::ScriptedServer>(loop, std::string(chat::kMemoryServer));
    memory = made.get();
    memory->answer = [this](const std::string& method, const Json&) -> Json {
      if (method == failing) throw RpcError(failure);
      if (method == "memory/get_or_create") return {{"conversation_id", "7"}};
      if (method == "memory/get_summary") return {{"summary", summary_there}};
      if (method == "memory/get_old_messages") return {{"messages", old_messages}};
      return {{"messages", messages}};
    };
    servers.register_server(std::move(made));
    profile.summary = summary;
    profile.summary_tokens = 50;
    chat::Wording& wording = profile.wordings[chat::Language::kEnglish];
    wording.user = "Guest";
    wording.assistant = "Butler";
    wording.prompts[chat::Purpose::kSummary] = "Sum up: {history}";
    wording.prompts[chat::Purpose::kShorterSummary] = "Shorten: {summary}";
    options.context_messages = 4;
    options.summarize_threshold = 2;
    options.most_summary_bytes = 20;
    calls.emplace(chat::AssistantCalls::Surroundings{loop, servers, provider, options, Immutable(profile)},
                  chat::Asker{"Ada"}, "peer", std::nullopt, [](const chat::TurnError&) {});
    kept.emplace(*calls, "mine");
  }

  void settle() {
    loop.restart();
    loop.poll();
  }
  std::optional<KeptConversation::Remembered> read(const std::string& question) {
    std::optional<KeptConversation::Remembered> found;
    kept->read(question, [&](const KeptConversation::Remembered& there, const chat::TurnError* why) {
      if (why == nullptr) {
        found = there;
      } else {
        error = *why;
      }
    });
    settle();
    return found;
  }
  // How often its end was told.
  int add(KeptConversation::Addition addition) {
    int ends = 0;
    kept->add(std::move(addition), [&ends] { ++ends; });
    settle();
    return ends;
  }
  std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const auto& [method, params] : memory->asked) all.push_back(method);
    return all;
  }
  // The parameters of the last call of that method.
  Json last(const std::string& method) const {
    Json found;
    for (const auto& [each, params] : memory->asked) {
      if (each == method) found = params;
    }
    return found;
  }

  asio::io_context loop;
  chat::McpHost servers;
  chat::testing::ScriptedServer* memory = nullptr;
  chat::testing::ScriptedProvider provider{loop};
  chat::Profile profile;
  chat::AssistantOptions options;
  Json messages = Json::array();
  Json old_messages = Json::array();
  std::string summary_there;
  std::string failing;  // the method that fails
  RpcError failure{ErrorCode::kInternalError, "the disk is full"};
  std::optional<chat::TurnError> error;
  std::optional<chat::AssistantCalls> calls;
  std::optional<KeptConversation> kept;
};

KeptConversation::Addition said_both() { return {.question = "Why?", .answer = "Because."}; }

}  // namespace

TEST_CASE("what was said before is read with its summary and with the id that the memory server has for it") {
  ConversationBench bench;
  bench.messages = {one_said("user", "Hi"), one_said("system", "never"), one_said("assistant", "Hello")};
  bench.summary_there = "They greeted.";
  const auto found = bench.read("Why?");
  REQUIRE(found);
  CHECK(found->id == "7");
  CHECK(found->summary == "They greeted.");
  REQUIRE(found->messages.size() == 2);
  CHECK(found->messages[0] == chat::text_message(chat::Role::kUser, "Hi"));
  CHECK(found->messages[1] == chat::text_message(chat::Role::kAssistant, "Hello"));
  CHECK(bench.methods() ==
        std::vector<std::string>{"memory/get_or_create", "memory/get_context", "memory/get_summary"});
  CHECK(bench.last("memory/get_context") == Json{{"max_messages", 4}, {"conversation_id", "mine"}});
  CHECK(bench.kept->id() == "mine");
}

TEST_CASE("a question that is asked again is not told twice, and only as the last that was said") {
  ConversationBench bench;
  bench.messages = {one_said("user", "Why?"), one_said("assistant", "So."), one_said("user", "Why?")};
  CHECK(bench.read("Why?")->messages.size() == 2);
  ConversationBench answered;
  answered.messages = {one_said("user", "Why?"), one_said("assistant", "Why?")};
  CHECK(answered.read("Why?")->messages.size() == 2);
  ConversationBench other;
  other.messages = {one_said("user", "Why not?")};
  CHECK(other.read("Why?")->messages.size() == 1);
  CHECK(ConversationBench().read("Why?")->messages.empty());
}

TEST_CASE("whatever of a conversation cannot be read, the reason is told, and nothing else is asked") {
  const std::vector<std::string> methods{"memory/get_or_create", "memory/get_context", "memory/get_summary"};
  for (std::size_t at = 0; at < methods.size(); ++at) {
    CAPTURE(methods[at]);
    ConversationBench bench;
    bench.failing = methods[at];
    CHECK_FALSE(bench.read("Why?"));
    REQUIRE(bench.error);
    CHECK(bench.error->kind() == chat::ErrorKind::kUpstream);
    CHECK_THAT(bench.error->what(), has_text("the disk is full"));
    CHECK(bench.methods().size() == at + 1);
  }
  ConversationBench bench;
  bench.failing = "memory/get_or_create";
  bench.failure = InvalidParams("params.conversation_id", "too long");
  CHECK_FALSE(bench.read("Why?"));
  CHECK(bench.error->kind() == chat::ErrorKind::kBadField);
  CHECK(bench.error->field() == "chat_id");
}

TEST_CASE("whether anything was said is asked for with one message, and begins no conversation") {
  ConversationBench bench;
  const auto look = [&bench] {
    std::optional<bool> is_there;
    bench.error.reset();
    bench.kept->look([&](bool there, const chat::TurnError* why) {
      is_there = there;
      if (why != nullptr) bench.error = *why;
    });
    bench.settle();
    return is_there;
  };
  CHECK(look() == false);
  CHECK_FALSE(bench.error);
  bench.messages = {one_said("user", "Hi")};
  CHECK(look() == true);
  CHECK(bench.last("memory/get_context")["max_messages"] == 1);
  CHECK(bench.last("memory/get_or_create").is_null());
  bench.failing = "memory/get_context";
  CHECK(look() == false);
  CHECK(bench.error);
}

TEST_CASE("a question and its answer are kept, in this order, and then the end is told once") {
  ConversationBench bench;
  CHECK(bench.add(said_both()) == 1);
  REQUIRE(bench.memory->asked.size() == 2);
  CHECK(bench.memory->asked[0].second == Json{{"role", "user"}, {"content", "Why?"}, {"conversation_id", "mine"}});
  CHECK(bench.memory->asked[1].second ==
        Json{{"role", "assistant"}, {"content", "Because."}, {"conversation_id", "mine"}});
  CHECK(bench.provider.wishes.empty());
}

TEST_CASE("a part of an answer is kept as one, and is not summed up") {
  ConversationBench bench(chat::SummaryUse::kEachResponse);
  auto part = said_both();
  part.is_partial = true;
  CHECK(bench.add(part) == 1);
  CHECK(bench.last("memory/add_message")["metadata"] == Json{{"partial", true}});
  CHECK(bench.provider.wishes.empty());
}

TEST_CASE("where the question cannot be kept its answer is not, either, and the end is told all the same") {
  ConversationBench bench(chat::SummaryUse::kEachResponse);
  bench.failing = "memory/add_message";
  CHECK(bench.add(said_both()) == 1);
  CHECK(bench.methods().size() == 1);
  CHECK(bench.provider.wishes.empty());
}

TEST_CASE("each response is summed up behind the summary that there was") {
  ConversationBench bench(chat::SummaryUse::kEachResponse);
  bench.summary_there = "Before.";
  bench.read("Why?");
  bench.provider.write = [](const chat::TextWish&) { return std::vector<chat::AnswerEvent>{chat::TextDelta{"Now."}}; };
  CHECK(bench.add(said_both()) == 1);
  REQUIRE(bench.provider.wishes.size() == 1);
  const chat::TextWish& wish = bench.provider.wishes[0];
  CHECK(wish.purpose == chat::Purpose::kSummary);
  CHECK(wish.turn.max_tokens == 50);
  CHECK(text_of(wish.turn.messages.at(0)) == "Sum up: Guest: Why?\nButler: Because.");
  CHECK(bench.last("memory/set_summary") == Json{{"summary", "Before.\n\nNow."}, {"conversation_id", "mine"}});
}

TEST_CASE("a summary that has become too long is summed up itself, and stays whole where that fails") {
  for (const std::string shorter : {"Short.", "", "fails"}) {
    CAPTURE(shorter);
    ConversationBench bench(chat::SummaryUse::kEachResponse);
    bench.summary_there = std::string(14, 'a');
    bench.read("Why?");
    bench.provider.write = [&shorter](const chat::TextWish& wish) -> std::vector<chat::AnswerEvent> {
      if (wish.purpose == chat::Purpose::kSummary) return {chat::TextDelta{"12345"}};  // 21 bytes in all
      if (shorter == "fails") throw chat::TurnError(chat::ErrorKind::kRuntimeFailed, "the worker died");
      if (shorter.empty()) return {};
      return {chat::TextDelta{shorter}};
    };
    CHECK(bench.add(said_both()) == 1);
    REQUIRE(bench.provider.wishes.size() == 2);
    const std::string whole = std::string(14, 'a') + "\n\n12345";
    CHECK(text_of(bench.provider.wishes[1].turn.messages.at(0)) == "Shorten: " + whole);
    CHECK(bench.last("memory/set_summary")["summary"] == (shorter == "Short." ? shorter : whole));
  }
  ConversationBench bench(chat::SummaryUse::kEachResponse);
  bench.summary_there = std::string(14, 'a');
  bench.read("Why?");
  bench.provider.write = [](const chat::TextWish&) { return std::vector<chat::AnswerEvent>{chat::TextDelta{"1234"}}; };
  bench.add(said_both());
  CHECK(bench.provider.wishes.size() == 1);
}

TEST_CASE("a summary that could not be made, or is empty, changes none that there is") {
  for (const bool fails : {true, false}) {
    CAPTURE(fails);
    ConversationBench bench(chat::SummaryUse::kEachResponse);
    bench.provider.write = [fails](const chat::TextWish&) -> std::vector<chat::AnswerEvent> {
      if (fails) throw chat::TurnError(chat::ErrorKind::kRuntimeFailed, "the worker died");
      return {};
    };
    CHECK(bench.add(said_both()) == 1);
    CHECK(bench.last("memory/set_summary").is_null());
  }
}

TEST_CASE("old messages are summed up when there are as many as the threshold says") {
  ConversationBench bench(chat::SummaryUse::kThreshold);
  bench.old_messages = {one_said("user", "Hi")};
  CHECK(bench.add(said_both()) == 1);
  CHECK(bench.provider.wishes.empty());
  bench.old_messages.push_back(one_said("assistant", "Hello"));
  CHECK(bench.add(said_both()) == 1);
  REQUIRE(bench.provider.wishes.size() == 1);
  CHECK(text_of(bench.provider.wishes[0].turn.messages.at(0)) == "Sum up: Guest: Hi\nButler: Hello");
  CHECK(bench.last("memory/set_summary")["summary"] == "text");
  bench.failing = "memory/get_old_messages";
  CHECK(bench.add(said_both()) == 1);
  CHECK(bench.provider.wishes.size() == 1);
}

TEST_CASE("what was said is told in a line for each message, with the names of who spoke") {
  chat::Wording wording;
  wording.user = "Guest";
  wording.assistant = "Butler";
  CHECK(told(wording, {}).empty());
  CHECK(told(wording, {chat::text_message(chat::Role::kAssistant, "Hello")}) == "Butler: Hello");
  CHECK(told(wording, {chat::text_message(chat::Role::kUser, ""), chat::text_message(chat::Role::kUser, "Hu\u1ebf")}) ==
        "Guest: \nGuest: Hu\u1ebf");
}

}  // namespace rkllm_mcp::test
