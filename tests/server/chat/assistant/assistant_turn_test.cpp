// One turn of an assistant, step by step: whom it asks, in which order, and what it tells. Who listens is held to the
// contract of all listeners in turn_listener_contract_test.cpp.
#include "chat/assistant/assistant_turn.hpp"

#include "chat/assistant/servers/mcp_host.hpp"
#include "chat/turn/context.hpp"
#include "server/chat/assistant/scripted_assistant.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using chat::Purpose;
using WrittenEvents = std::vector<chat::AnswerEvent>;

// A butler who answers in English, with two servers beside it.
struct ButlerBench {
  ButlerBench() {
    memory = add_server("memory-server");
    memory->answer = [](const std::string& method, const Json&) -> Json {
      if (method == "memory/get_or_create") return {{"conversation_id", "7"}};
      if (method == "memory/get_summary") return {{"summary", "They greeted."}};
      if (method == "memory/get_context") {
        return {{"messages", {{{"role", "user"}, {"content", "Hi"}}, {{"role", "assistant"}, {"content", "Hello"}}}}};
      }
      return Json::object();
    };
    tools = add_server("tool-server");
    profile.name = "butler";
    profile.model = "qwen3-0.6b";
    auto& prompts = profile.wordings[chat::Language::kEnglish].prompts;
    prompts[Purpose::kLanguage] = "Which language? {question}";
    prompts[Purpose::kGuardrail] = "May I? {question}";
    prompts[Purpose::kAnswer] = "{summary}|{history}|{search}|{question}";
    prompts[Purpose::kRefusal] = "I must not.";
    prompts[Purpose::kSummary] = "Sum up: {history}";
    prompts[Purpose::kShorterSummary] = "Shorten: {summary}";
    profile.wordings[chat::Language::kVietnamese] = profile.wordings[chat::Language::kEnglish];
    profile.wordings[chat::Language::kVietnamese].prompts[Purpose::kAnswer] = "vi|{question}";
    asked.model = "butler";
    asked.messages = {chat::text_message(chat::Role::kUser, "Why is that so?")};
    provider.write = [this](const chat::TextWish& wish) -> WrittenEvents {
      if (wish.purpose == Purpose::kGuardrail) return {chat::TextDelta{guardrail_says}};
      if (wish.purpose == Purpose::kLanguage) return {chat::TextDelta{language_said}};
      return {chat::ThinkingDelta{"Hm"}, chat::TextDelta{"Be"}, chat::TextDelta{"cause."}};
    };
  }
  ButlerBench(const ButlerBench&) = delete;
  ButlerBench& operator=(const ButlerBench&) = delete;
  // What is still under way is given up before what it uses.
  ~ButlerBench() {
    if (turn) turn->listener_gone();
    settle();
    turn.reset();
  }

  void begin() {
    turn = std::make_shared<chat::AssistantTurn>(
        chat::AssistantTurn::Surroundings{loop, servers, provider, options, Immutable(profile)}, asked,
        chat::Asker{"Ada"}, "peer", heard, [this] {
          ++ends;
          turn.reset();
        });
    turn->begin();
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void run() {
    begin();
    settle();
  }
  // So many things that happen on the loop.
  void step(int count) {
    loop.restart();
    for (int done = 0; done < count; ++done) loop.poll_one();
  }
  std::string text_told() const { return heard.answers.empty() ? "" : heard.answers.at(0).text; }
  std::vector<Purpose> purposes() const {
    std::vector<Purpose> all;
    for (const chat::TextWish& wish : provider.wishes) all.push_back(wish.purpose);
    return all;
  }
  // What the model was told last, in its last message.
  std::string last_prompt() const { return text_of(provider.wishes.back().turn.messages.back()); }
  // The contents of the messages that were kept, a partial one marked.
  std::vector<std::string> messages_kept() const {
    std::vector<std::string> all;
    for (const auto& [method, params] : memory->asked) {
      if (method != "memory/add_message") continue;
      all.push_back(params.at("content").get<std::string>() + (params.contains("metadata") ? " (partial)" : ""));
    }
    return all;
  }

  asio::io_context loop;
  chat::McpHost servers;
  chat::testing::ScriptedServer* memory = nullptr;
  chat::testing::ScriptedServer* tools = nullptr;
  chat::testing::ScriptedProvider provider{loop};
  chat::AssistantOptions options;
  chat::Profile profile;
  chat::Turn asked;
  std::string guardrail_says = "Yes.";
  std::string language_said = "vi";
  chat::testing::Heard heard;
  int ends = 0;
  std::shared_ptr<chat::AssistantTurn> turn;

 private:
  chat::testing::ScriptedServer* add_server(const std::string& name) {
    auto made = std::make_unique<chat::testing::ScriptedServer>(loop, name);
    auto* const server = made.get();
    servers.register_server(std::move(made));
    return server;
  }
};

std::optional<chat::TurnError> refusal_at_begin(ButlerBench& bench) {
  try {
    bench.begin();
    return std::nullopt;
  } catch (const chat::TurnError& error) {
    return error;
  }
}

// A server with these tools, each of which answers with its name.
void offer_tools(chat::testing::ScriptedServer& server, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) {
    list.push_back({{"name", name}, {"inputSchema", {{"properties", {{"max_results", Json::object()}}}}}});
  }
  server.answer = [list](const std::string& method, const Json& params) -> Json {
    if (method == "tools/list") return {{"tools", list}};
    const std::string text = "found by " + params.at("name").get<std::string>();
    return {{"content", {{{"type", "text"}, {"text", text}}}}};
  };
}

}  // namespace

TEST_CASE("a question becomes a prompt, and its answer is told from the loop") {
  ButlerBench bench;
  bench.asked.messages = {
      chat::text_message(chat::Role::kSystem, "Be brief."), chat::text_message(chat::Role::kUser, "Hi"),
      chat::text_message(chat::Role::kAssistant, "Hello"), chat::text_message(chat::Role::kUser, "Why?")};
  bench.profile.wordings[chat::Language::kEnglish].user = "Guest";
  bench.profile.wordings[chat::Language::kEnglish].assistant = "Butler";
  bench.begin();
  CHECK(bench.provider.wishes.empty());
  bench.settle();
  CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kAnswer});
  CHECK(bench.last_prompt() == "|Guest: Hi\nButler: Hello||Why?");
  CHECK(text_of(bench.provider.wishes[0].turn.messages.at(0)) == "Be brief.");
  CHECK(bench.text_told() == "Because.");
  CHECK(bench.heard.answers[0].thinking == "Hm");
  CHECK(bench.heard.sum);
  CHECK_FALSE(bench.heard.error);
  CHECK(bench.ends == 1);
  CHECK(bench.memory->asked.empty());
}

TEST_CASE("what a profile cannot do is refused at once, and nothing is told") {
  ButlerBench without_user;
  without_user.asked.messages = {chat::text_message(chat::Role::kSystem, "Be brief.")};
  CHECK(refusal_at_begin(without_user).value().kind() == chat::ErrorKind::kBadField);
  ButlerBench with_picture;
  with_picture.asked.messages[0].parts.emplace_back(chat::ImagePart{"image/png", "aGk="});
  CHECK(refusal_at_begin(with_picture).value().kind() == chat::ErrorKind::kNotSupported);
  ButlerBench with_format;
  with_format.asked.format.kind = chat::OutputKind::kJsonObject;
  CHECK(refusal_at_begin(with_format).value().field() == "response_format");
  ButlerBench too_long;
  too_long.asked.messages = {chat::text_message(chat::Role::kUser, std::string(chat::kMostPromptBytes + 1, 'a'))};
  CHECK(refusal_at_begin(too_long).value().kind() == chat::ErrorKind::kContext);
  ButlerBench of_task;
  of_task.asked.is_task = true;
  of_task.profile.answers_tasks = false;
  CHECK(refusal_at_begin(of_task).value().kind() == chat::ErrorKind::kNotSupported);
  for (ButlerBench* const bench : {&without_user, &with_picture, &with_format, &too_long, &of_task}) {
    bench->settle();
    CHECK(bench->provider.wishes.empty());
    CHECK_FALSE(bench->heard.error);
  }
}

TEST_CASE("options that a profile does not honour are named") {
  ButlerBench bench;
  bench.asked.tools = {chat::FunctionTool{"f"}};
  bench.asked.answers = 2;
  bench.asked.drop_oldest_turns = true;
  bench.run();
  REQUIRE(bench.heard.beginning);
  CHECK(bench.heard.beginning->ignored == std::vector<std::string>{"tools", "n", "truncate"});
}

TEST_CASE("the language that a model has told is that of the prompt, and what it says else changes nothing") {
  for (const std::string said : {" VI.", "vietnamese", "?", "fr"}) {
    CAPTURE(said);
    ButlerBench bench;
    bench.profile.asks_model_for_language = true;
    bench.language_said = said;
    bench.run();
    CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kLanguage, Purpose::kAnswer});
    const bool is_vietnamese = said == " VI." || said == "vietnamese";
    CHECK(bench.last_prompt() == (is_vietnamese ? "vi|Why is that so?" : "|||Why is that so?"));
    CHECK(bench.text_told() == "Because.");
  }
}

TEST_CASE("what a guardrail refuses is answered with a refusal, and is neither made nor kept") {
  ButlerBench bench;
  bench.profile.guardrail.emplace();
  bench.asked.conversation = "mine";
  bench.guardrail_says = "No, never.";
  bench.run();
  CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kGuardrail});
  CHECK(bench.text_told() == "I must not.");
  CHECK(bench.heard.sum);
  CHECK(bench.heard.beginning->conversation == "mine");
  CHECK(bench.messages_kept().empty());
  CHECK(bench.ends == 1);
}

TEST_CASE("a guardrail that is unclear, or cannot be asked, lets pass only where the profile says so") {
  for (const bool lets_pass : {true, false}) {
    for (const bool fails : {true, false}) {
      CAPTURE(lets_pass, fails);
      ButlerBench bench;
      bench.profile.guardrail.emplace();
      bench.profile.guardrail->lets_pass = lets_pass;
      bench.provider.write = [fails](const chat::TextWish& wish) -> WrittenEvents {
        if (wish.purpose != Purpose::kGuardrail) return {chat::TextDelta{"Because."}};
        if (fails) throw chat::TurnError(chat::ErrorKind::kRuntimeFailed, "the worker died");
        return {chat::TextDelta{"Perhaps."}};
      };
      bench.run();
      CHECK(bench.heard.error.has_value() == (fails && !lets_pass));
      CHECK(bench.text_told() == (lets_pass ? "Because." : (fails ? "" : "I must not.")));
      CHECK(bench.ends == 1);
    }
  }
}

TEST_CASE("a turn of a conversation is told what was kept, and both messages are kept before its end is told") {
  ButlerBench bench;
  bench.asked.conversation = "mine";
  bench.asked.messages.insert(bench.asked.messages.begin(), chat::text_message(chat::Role::kUser, "of the client"));
  const auto answers = bench.memory->answer;
  bool was_told_before = false;
  bench.memory->answer = [&](const std::string& method, const Json& params) {
    was_told_before = was_told_before || (method == "memory/add_message" && bench.heard.sum);
    return answers(method, params);
  };
  bench.run();
  CHECK(bench.last_prompt() == "They greeted.|: Hi\n: Hello||Why is that so?");
  CHECK(bench.heard.beginning->conversation == "7");
  CHECK(bench.messages_kept() == std::vector<std::string>{"Why is that so?", "Because."});
  CHECK(bench.heard.sum);
  CHECK_FALSE(was_told_before);
}

TEST_CASE("one answer of a conversation is made at a time, and the next when it has ended") {
  ButlerBench first;
  first.asked.conversation = "mine";
  first.begin();
  chat::testing::Heard other;
  const auto begin_other = [&] {
    auto second = std::make_shared<chat::AssistantTurn>(
        chat::AssistantTurn::Surroundings{first.loop, first.servers, first.provider, first.options,
                                          Immutable(first.profile)},
        first.asked, chat::Asker{"Ada"}, "peer", other, [] {});
    second->begin();
    return second;
  };
  CHECK_THROWS_AS(begin_other(), chat::TurnError);
  first.settle();
  CHECK(first.ends == 1);
  const auto second = begin_other();
  first.settle();
  CHECK(other.sum);
}

TEST_CASE("a conversation needs a memory server, and one that cannot be read is no answer") {
  ButlerBench failing;
  failing.asked.conversation = "mine";
  failing.memory->answer = [](const std::string&, const Json&) -> Json {
    throw RpcError(ErrorCode::kInternalError, "the disk is full");
  };
  failing.run();
  REQUIRE(failing.heard.error);
  CHECK(failing.heard.error->kind() == chat::ErrorKind::kUpstream);
  CHECK(failing.provider.wishes.empty());
  ButlerBench none;
  none.asked.conversation = "mine";
  none.servers = chat::McpHost();
  CHECK(refusal_at_begin(none).value().field() == "chat_id");
}

TEST_CASE("what was found is in the prompt, and a search that failed is told to model and client") {
  ButlerBench bench;
  bench.profile.search.emplace();
  bench.profile.search->tool = "look_up";
  bench.profile.search->max_results = 3;
  offer_tools(*bench.tools, {"other", "look_up"});
  bench.run();
  CHECK(bench.last_prompt() == "||found by look_up|Why is that so?");
  CHECK(bench.tools->asked.back().second ==
        Json{{"name", "look_up"}, {"arguments", {{"query", "Why is that so?"}, {"max_results", 3}}}});
  CHECK_FALSE(bench.heard.beginning->search_failed);

  ButlerBench failing;
  failing.profile.search.emplace();
  failing.profile.search->tool = "absent";
  offer_tools(*failing.tools, {"look_up"});
  failing.run();
  CHECK_THAT(failing.last_prompt(), has_text("no search results: tool-server has no tool \"absent\""));
  CHECK(failing.heard.beginning->search_failed);
  CHECK(failing.text_told() == "Because.");
}

TEST_CASE("of what was found the model is told as much as the profile allows, in whole characters") {
  ButlerBench bench;
  bench.profile.search.emplace();
  bench.profile.search->tool = "look_up";
  bench.profile.search->max_bytes = 4;
  bench.tools->answer = [](const std::string& method, const Json&) -> Json {
    if (method == "tools/list") return {{"tools", {{{"name", "look_up"}}}}};
    return {{"content", {{{"type", "text"}, {"text", "Hu\u1ebf"}}}}};
  };
  bench.run();
  CHECK(bench.last_prompt() == "||Hu|Why is that so?");
}

TEST_CASE("tools that a profile allows are offered, called, and their results told to the model, for so many rounds") {
  ButlerBench bench;
  bench.profile.tools.emplace();
  bench.profile.tools->allow = {"look_*"};
  bench.profile.tools->rounds = 2;
  offer_tools(*bench.tools, {"look_up", "delete"});
  bench.provider.write = [](const chat::TextWish& wish) -> WrittenEvents {
    if (wish.turn.tool_choice.use == chat::ToolUse::kNone) return {chat::TextDelta{"Because."}};
    return {chat::TextDelta{"Let me see. "}, chat::ToolCall{"1", "look_up", "{}"}, chat::ToolCall{"2", "delete", "{}"}};
  };
  bench.run();
  REQUIRE(bench.provider.wishes.size() == 3);
  REQUIRE(bench.provider.wishes[0].turn.tools.size() == 1);
  CHECK(bench.provider.wishes[0].turn.tools[0].name == "look_up");
  const auto& messages = bench.provider.wishes[1].turn.messages;
  REQUIRE(messages.size() == 4);
  CHECK(messages[1].calls.size() == 2);
  CHECK(text_of(messages[2]) == "found by look_up");
  CHECK(messages[2].call_id == "1");
  CHECK_THAT(text_of(messages[3]), has_text("error: "));
  CHECK(bench.text_told() == "Let me see. Let me see. Because.");
  CHECK(bench.heard.answers[0].calls.empty());
  const auto is_call_of_delete = [](const auto& each) { return each.second.value("name", "") == "delete"; };
  CHECK(std::ranges::none_of(bench.tools->asked, is_call_of_delete));
}

TEST_CASE("of many calls in one round eight are made") {
  ButlerBench bench;
  bench.profile.tools.emplace();
  bench.profile.tools->allow = {"*"};
  bench.profile.tools->rounds = 1;
  offer_tools(*bench.tools, {"look_up"});
  bench.provider.write = [](const chat::TextWish& wish) -> WrittenEvents {
    if (wish.turn.tool_choice.use == chat::ToolUse::kNone) return {chat::TextDelta{"Because."}};
    return WrittenEvents(9, chat::ToolCall{"1", "look_up", "{}"});
  };
  bench.run();
  const auto is_call = [](const auto& each) { return each.first == "tools/call"; };
  CHECK(std::ranges::count_if(bench.tools->asked, is_call) == 8);
  CHECK(bench.heard.sum);
}

TEST_CASE("a client's own question goes to the model as it is, past the guardrail, and nothing of it is kept") {
  ButlerBench bench;
  bench.asked.is_task = true;
  bench.asked.conversation = "mine";
  bench.profile.guardrail.emplace();
  bench.run();
  CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kTask});
  CHECK(bench.last_prompt() == "Why is that so?");
  CHECK(bench.text_told() == "Because.");
  CHECK(bench.memory->asked.empty());
}

TEST_CASE("who goes before the answer leaves nothing, and in the middle of it a part that is kept as one") {
  ButlerBench before;
  before.asked.conversation = "mine";
  before.begin();
  before.turn->listener_gone();
  CHECK(before.ends == 1);
  before.settle();
  CHECK(before.provider.wishes.empty());
  CHECK(before.memory->asked.empty());

  ButlerBench during;
  during.asked.conversation = "mine";
  during.provider.has_no_end = true;
  during.run();
  CHECK(during.text_told() == "Because.");
  during.turn->listener_gone();
  CHECK(during.provider.given_up == 1);
  during.settle();
  CHECK(during.messages_kept() == std::vector<std::string>{"Why is that so?", "Because. (partial)"});
  CHECK(during.ends == 1);
  CHECK_FALSE(during.heard.sum);
}

TEST_CASE("who goes in the middle of an answer without a conversation ends the turn at once") {
  ButlerBench bench;
  bench.provider.has_no_end = true;
  bench.run();
  bench.turn->listener_gone();
  CHECK(bench.ends == 1);
  CHECK(bench.provider.given_up == 1);
}

TEST_CASE(
    "an answer that is being kept is kept whole and once, whether its listener goes meanwhile or the server ends") {
  for (const bool is_end_of_server : {true, false}) {
    CAPTURE(is_end_of_server);
    ButlerBench bench;
    bench.asked.conversation = "mine";
    const auto answers = bench.memory->answer;
    bool has_come = false;
    bench.memory->answer = [&](const std::string& method, const Json& params) {
      if (method == "memory/add_message" && !std::exchange(has_come, true)) {
        is_end_of_server ? bench.turn->stop() : bench.turn->listener_gone();
      }
      return answers(method, params);
    };
    bench.run();
    CHECK(bench.messages_kept() == std::vector<std::string>{"Why is that so?", "Because."});
    CHECK(bench.heard.sum.has_value() == is_end_of_server);
    CHECK(bench.ends == 1);
  }
}

TEST_CASE("at the server's end the answer is kept and told without the summary that was being made") {
  ButlerBench bench;
  bench.asked.conversation = "mine";
  bench.profile.summary = chat::SummaryUse::kEachResponse;
  const auto write = bench.provider.write;
  bench.provider.write = [&bench, write](const chat::TextWish& wish) {
    bench.provider.has_no_end = wish.purpose == Purpose::kSummary;
    return write(wish);
  };
  bench.run();
  REQUIRE(bench.purposes() == std::vector<Purpose>{Purpose::kAnswer, Purpose::kSummary});
  CHECK_FALSE(bench.heard.sum);
  bench.turn->stop();
  CHECK(bench.heard.sum);
  CHECK(bench.ends == 1);
  CHECK(bench.messages_kept().size() == 2);
}

TEST_CASE("at the server's end no text is begun any more") {
  ButlerBench bench;
  bench.begin();
  bench.turn->stop();
  bench.settle();
  CHECK(bench.provider.wishes.empty());
  REQUIRE(bench.heard.error);
  CHECK(bench.heard.error->kind() == chat::ErrorKind::kNoRoom);
  CHECK(bench.ends == 1);
}

TEST_CASE("who takes no more for a while holds the answer, and not what is made before it") {
  ButlerBench bench;
  bench.profile.guardrail.emplace();
  bench.begin();
  bench.step(1);  // the guardrail is asked
  CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kGuardrail});
  bench.turn->hold();
  CHECK(bench.provider.held == 0);
  bench.step(1);  // it has answered
  CHECK(bench.purposes() == std::vector<Purpose>{Purpose::kGuardrail, Purpose::kAnswer});
  CHECK(bench.provider.held == 1);
}

TEST_CASE("an answer that fails is told as such, and is not kept") {
  ButlerBench bench;
  bench.asked.conversation = "mine";
  bench.provider.write = [](const chat::TextWish&) -> WrittenEvents {
    throw chat::TurnError(chat::ErrorKind::kRuntimeFailed, "the worker died");
  };
  bench.run();
  REQUIRE(bench.heard.error);
  CHECK(bench.heard.error->kind() == chat::ErrorKind::kRuntimeFailed);
  CHECK_FALSE(bench.heard.sum);
  CHECK(bench.messages_kept().empty());
  CHECK(bench.ends == 1);
}

}  // namespace rkllm_mcp::test
