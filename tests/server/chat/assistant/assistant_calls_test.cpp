// What an assistant asks of others, one call at a time, and what becomes of the answers. Whole turns are in
// assistant_turn_test.cpp.
#include "chat/assistant/assistant_calls.hpp"

#include "jsonrpc/envelope.hpp"
#include "server/chat/assistant/scripted_assistant.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using chat::AssistantCalls;
using chat::ErrorKind;
using chat::Purpose;
using chat::TurnError;

// What one call has come to.
struct CallResult {
  std::optional<Json> result;
  std::optional<ErrorCode> code;
};
struct TextResult {
  std::string text;
  std::optional<TurnError> error;
};

struct CallsBench {
  explicit CallsBench(std::optional<chat::KeepAlive> keep_alive = {}) {
    auto owned = std::make_unique<chat::testing::ScriptedServer>(loop, "tool-server");
    server = owned.get();
    servers.register_server(std::move(owned));
    profile.name = "butler";
    profile.model = "large";
    profile.summary_tokens = 70;
    profile.guardrail = chat::Guardrail{.model = "", .max_tokens = 5};
    auto& prompts = profile.wordings[chat::Language::kEnglish].prompts;
    prompts[Purpose::kGuardrail] = "May I? {question}";
    prompts[Purpose::kLanguage] = "Which one? {question}";
    prompts[Purpose::kSummary] = "Sum up: {history}";
    options.report = [this](const chat::AssistantNote& note) { notes.push_back(note); };
    wish = keep_alive;
  }
  CallsBench(const CallsBench&) = delete;
  CallsBench& operator=(const CallsBench&) = delete;
  ~CallsBench() {
    calls.reset();
    settle();
  }

  AssistantCalls& begin() {
    calls = std::make_unique<AssistantCalls>(
        AssistantCalls::Surroundings{loop, servers, provider, options, Immutable(profile)}, chat::Asker{"Ada"}, "peer",
        wish, [this](const TurnError& error) { failures.push_back(error); });
    return *calls;
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  std::vector<CallResult> call(const std::string& name, const std::string& method, const Json& params) {
    std::vector<CallResult> heard;
    begin().call(name, method, params, [&heard](const Json& result, const std::exception_ptr& error) {
      CallResult one;
      if (error) {
        one.code = as_rpc_error(error).code();
      } else {
        one.result = result;
      }
      heard.push_back(std::move(one));
    });
    settle();
    return heard;
  }
  AssistantCalls::TakeText take_text() {
    return [this](const std::string& text, const TurnError* error) {
      texts.push_back({text, error == nullptr ? std::nullopt : std::optional(*error)});
    };
  }
  void make(Purpose purpose, chat::TurnListener* listener = nullptr) {
    begin().make_text(purpose, {}, listener, take_text());
    settle();
  }

  asio::io_context loop;
  chat::McpHost servers;
  chat::testing::ScriptedServer* server = nullptr;
  chat::testing::ScriptedProvider provider{loop};
  chat::Profile profile;
  chat::AssistantOptions options;
  std::optional<chat::KeepAlive> wish;
  std::vector<chat::AssistantNote> notes;
  std::vector<TurnError> failures;
  std::vector<TextResult> texts;
  std::unique_ptr<AssistantCalls> calls;
};

}  // namespace

TEST_CASE("an assistant's call of a server is answered once, and is a line of the log that names the tool") {
  CallsBench bench;
  bench.server->answer = [](const std::string&, const Json& params) {
    return Json{{"got", params.value("name", "nothing")}};
  };
  const auto heard = bench.call("tool-server", "tools/call", {{"name", "calculate"}});
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].result == Json{{"got", "calculate"}});
  REQUIRE(bench.notes.size() == 1);
  CHECK(bench.notes[0].profile == "butler");
  CHECK(bench.notes[0].asker == "Ada");
  CHECK(bench.notes[0].peer == "peer");
  CHECK(bench.notes[0].server == "tool-server");
  CHECK(bench.notes[0].call == "tools/call calculate");
  CHECK(bench.notes[0].error.empty());
  bench.call("tool-server", "tools/list", Json::object());
  CHECK(bench.notes[1].call == "tools/list");
  CHECK(bench.calls->has_server("tool-server"));
}

TEST_CASE("a server's error is told to who has called, and so is that there is no such server") {
  CallsBench bench;
  bench.server->answer = [](const std::string&, const Json&) -> Json { throw InvalidParams("params.x", "missing"); };
  const auto heard = bench.call("tool-server", "x", Json::object());
  REQUIRE(heard.size() == 1);
  CHECK(heard[0].code == ErrorCode::kInvalidParams);
  CHECK(bench.notes.at(0).error == "params.x: missing");
  const auto nobody = bench.call("other", "x", Json::object());
  REQUIRE(nobody.size() == 1);
  CHECK(nobody[0].code == ErrorCode::kMethodNotFound);
  CHECK_THAT(bench.notes.at(1).error, has_text("no server \"other\""));
  CHECK_FALSE(bench.calls->has_server("other"));
  CHECK(bench.failures.empty());
}

TEST_CASE("an answer that has another form ends the turn as the server's fault, and a bug as our own") {
  CallsBench bench;
  AssistantCalls& calls = bench.begin();
  calls.call("tool-server", "x", Json::object(),
             [](const Json& result, const std::exception_ptr&) { (void)result.at("absent"); });
  bench.settle();
  REQUIRE(bench.failures.size() == 1);
  CHECK(bench.failures[0].kind() == ErrorKind::kUpstream);
  CHECK(std::string(bench.failures[0].what()) == "tool-server: its answer to x has another form");
  calls.call("tool-server", "x", Json::object(),
             [](const Json&, const std::exception_ptr&) { throw std::logic_error("a bug"); });
  bench.loop.restart();
  CHECK_THROWS_WITH(bench.loop.poll(), "a bug");  // it is thrown on, to be reported
  REQUIRE(bench.failures.size() == 2);
  CHECK(bench.failures[1].kind() == ErrorKind::kInternal);
}

TEST_CASE("who listens to a text hears what comes of it but its end, which whoever has asked gets with the text") {
  CallsBench bench;
  bench.provider.write = [](const chat::TextWish&) {
    return std::vector<chat::AnswerEvent>{chat::ThinkingDelta{"Hm"}, chat::TextDelta{"Be"}, chat::TextDelta{"cause."}};
  };
  chat::testing::Heard heard;
  bench.make(Purpose::kAnswer, &heard);
  REQUIRE(bench.texts.size() == 1);
  CHECK(bench.texts[0].text == "Because.");
  CHECK_FALSE(bench.texts[0].error);
  CHECK(heard.beginning);
  CHECK(heard.answers.at(0).text == "Because.");
  CHECK(heard.answers.at(0).thinking == "Hm");
  CHECK_FALSE(heard.sum);
  CHECK_FALSE(bench.calls->is_making_text());
  REQUIRE(bench.notes.size() == 1);
  CHECK(bench.notes[0].server == "model");
  CHECK(bench.notes[0].call == "answer");
  CHECK(bench.provider.given_up == 0);
}

TEST_CASE(
    "answers are asked of the profile's model, and what is asked before them of the smaller one, if there is one") {
  CallsBench bench;
  const auto model_for = [&bench](Purpose purpose) {
    bench.make(purpose);
    return bench.provider.wishes.back().turn.model;
  };
  CHECK(model_for(Purpose::kAnswer) == "large");
  CHECK(model_for(Purpose::kGuardrail) == "large");
  bench.options.guardrail_model = "small";
  CHECK(model_for(Purpose::kAnswer) == "large");
  CHECK(model_for(Purpose::kGuardrail) == "small");
  bench.profile.guardrail->model = "own";
  CHECK(model_for(Purpose::kGuardrail) == "own");
  bench.profile.guardrail->model.clear();
  bench.profile.provider = chat::ProviderKind::kOpenAi;  // which does not know the models here
  CHECK(model_for(Purpose::kGuardrail) == "large");
}

TEST_CASE("a client's wish to keep a model is passed on, and one to unload it at once is not") {
  const auto passed_on = [](const std::optional<chat::KeepAlive>& keep_alive) {
    CallsBench bench(keep_alive);
    bench.make(Purpose::kAnswer);
    return bench.provider.wishes.at(0).turn.keep_alive;
  };
  CHECK(passed_on(chat::KeepAlive{false, 60}) == chat::KeepAlive{false, 60});
  CHECK(passed_on(chat::KeepAlive{true, 0}) == chat::KeepAlive{true, 0});
  CHECK_FALSE(passed_on(chat::KeepAlive{false, 0}));
  CHECK_FALSE(passed_on(std::nullopt));
}

TEST_CASE("a text that fails is none, and the reason is told and logged") {
  CallsBench bench;
  bench.provider.write = [](const chat::TextWish&) -> std::vector<chat::AnswerEvent> {
    throw TurnError(ErrorKind::kRuntimeFailed, "it rains");
  };
  bench.make(Purpose::kAnswer);
  REQUIRE(bench.texts.size() == 1);
  CHECK(bench.texts[0].text.empty());
  REQUIRE(bench.texts[0].error);
  CHECK(bench.texts[0].error->kind() == ErrorKind::kRuntimeFailed);
  CHECK(bench.notes.at(0).error == "it rains");
  CHECK_FALSE(bench.calls->is_making_text());
}

TEST_CASE("no text is begun once the server ends, which is told at once") {
  CallsBench bench;
  bench.begin().begin_ending();
  bench.calls->make_text(Purpose::kAnswer, {}, nullptr, bench.take_text());
  REQUIRE(bench.texts.size() == 1);
  REQUIRE(bench.texts[0].error);
  CHECK(bench.texts[0].error->kind() == ErrorKind::kNoRoom);
  CHECK(bench.provider.wishes.empty());
}

TEST_CASE(
    "a short text is the same each time, has the bound of its purpose, and is asked for by the profile's prompt") {
  CallsBench bench;
  const auto turn_for = [&bench](Purpose purpose, const chat::Filling& filling) {
    bench.begin().make_short_text(purpose, chat::Language::kEnglish, filling, nullptr, bench.take_text());
    bench.settle();
    return bench.provider.wishes.back().turn;
  };
  const chat::Turn guardrail = turn_for(Purpose::kGuardrail, {{"question", "Why?"}});
  CHECK(guardrail.messages == std::vector{chat::text_message(chat::Role::kUser, "May I? Why?")});
  CHECK(guardrail.sampling.temperature == 0);
  CHECK(guardrail.max_tokens == 5);
  CHECK(turn_for(Purpose::kSummary, {{"history", "x"}}).max_tokens == 70);
  CHECK(turn_for(Purpose::kLanguage, {{"question", "x"}}).max_tokens == 8);
}

TEST_CASE("what is given up is told to who makes it, and nobody is called any more") {
  CallsBench bench;
  bool is_answered = false;
  bench.provider.has_no_end = true;
  SECTION("a text alone") {
    bench.make(Purpose::kAnswer);
    CHECK(bench.calls->is_making_text());
    bench.calls->hold();
    CHECK(bench.provider.held == 1);
    bench.calls->drop_text();
    CHECK_FALSE(bench.calls->is_making_text());
    CHECK(bench.provider.given_up == 1);
  }
  SECTION("all of it") {
    bench.begin().make_text(Purpose::kAnswer, {}, nullptr, bench.take_text());
    bench.calls->call("tool-server", "x", Json::object(),
                      [&is_answered](const Json&, const std::exception_ptr&) { is_answered = true; });
    bench.calls->give_up();
    CHECK(bench.provider.given_up == 1);
  }
  SECTION("by its end") {
    bench.begin().make_text(Purpose::kAnswer, {}, nullptr, bench.take_text());
    bench.calls->call("tool-server", "x", Json::object(),
                      [&is_answered](const Json&, const std::exception_ptr&) { is_answered = true; });
    bench.calls.reset();
    CHECK(bench.provider.given_up == 1);
  }
  bench.settle();
  CHECK(bench.texts.empty());
  CHECK_FALSE(is_answered);
  CHECK(bench.failures.empty());
}

TEST_CASE("what a server finds wrong with a conversation's name is the client's fault, anything else the server's") {
  const TurnError name = chat::failure_of("memory-server", std::make_exception_ptr(InvalidParams("params.id", "long")));
  CHECK(name.kind() == ErrorKind::kBadField);
  CHECK(name.field() == "chat_id");
  CHECK_THAT(name.what(), has_text("params.id: long"));
  const TurnError other =
      chat::failure_of("memory-server", std::make_exception_ptr(RpcError(ErrorCode::kQueueFull, "it is busy")));
  CHECK(other.kind() == ErrorKind::kUpstream);
  CHECK(std::string(other.what()) == "memory-server: it is busy");
}

}  // namespace rkllm_mcp::test
