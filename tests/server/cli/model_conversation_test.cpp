// A conversation with a model, whose server says what the test has written.
#include "cli/talk/model_conversation.hpp"

#include "client/connection.hpp"
#include "server/cli/link_bench.hpp"
#include "support/catch.hpp"
#include "support/web_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using SaidTexts = std::vector<std::string>;

std::string event_of(const Json& chunk) { return "data: " + chunk.dump() + "\n\n"; }
std::string piece_of_answer(const char* field, const std::string& text) {
  return event_of({{"choices", {{{"delta", {{field, text}}}}}}});
}
std::string piece(const std::string& text) { return piece_of_answer("content", text); }

// Whom a server answers each question with the next of `answers`, and all later ones with the last.
class TalkBench {
 public:
  explicit TalkBench(std::vector<std::string> answers) : answers_(std::move(answers)) {}

  // Whether all of the answer came.
  bool ask(const std::string& question = "Hi") {
    told.clear();
    return talk.ask(question, {[this](const std::string& text) { told.push_back("text " + text); },
                               [this](const std::string& text) { told.push_back("thought " + text); },
                               [] { return false; }}) == ModelConversation::End::kComplete;
  }
  Json messages() const { return talk.to_json()["messages"]; }
  Json asked() const { return Json::parse(server_.body()); }

 private:
  std::vector<std::string> answers_;
  std::atomic<std::size_t> next_{0};
  LinkBench server_{[this](WebServer::Socket& socket) {
    const std::string& events = answers_[std::min(next_++, answers_.size() - 1)];
    WebServer::send(socket, web_answer(events, "text/event-stream"));
  }};
  ServerLink link_{server_.link()};

 public:
  SaidTexts told;
  ModelConversation talk{link_, "fast"};
};

Json said_by(const char* role, const std::string& text) { return {{"role", role}, {"content", text}}; }

// What a server's list of models is, and which of them a name means; "" and why: none.
std::string chosen_of(const Json& list, const std::string& name) {
  const LinkBench server(web_answer(list.dump(), "application/json"));
  ServerLink link = server.link();
  return chosen_model(link, name);
}

Json offered_entry(const std::string& name, const Json& rkllm = Json::object()) {
  return {{"id", name}, {"rkllm", rkllm}};
}

}  // namespace

TEST_CASE("a question goes with all that was said before, the system message first, and the answer is kept") {
  TalkBench bench({piece("Hel") + piece("lo") + "data: [DONE]\n\n", piece("Fine")});
  bench.talk.set_system("Be brief.");
  CHECK(bench.ask("Hi"));
  CHECK(bench.told == SaidTexts{"text Hel", "text lo"});
  CHECK(bench.talk.answer() == "Hello");
  CHECK(bench.asked()["model"] == "fast");
  CHECK(bench.asked()["stream"] == true);
  CHECK(bench.asked()["messages"] == Json::array({said_by("system", "Be brief."), said_by("user", "Hi")}));

  bench.talk.set_model("large");
  CHECK(bench.ask("How are you?"));
  CHECK(bench.asked()["model"] == "large");
  const Json all = Json::array({said_by("system", "Be brief."), said_by("user", "Hi"), said_by("assistant", "Hello"),
                                said_by("user", "How are you?")});
  CHECK(bench.asked()["messages"] == all);
  CHECK(bench.messages().size() == 5);
  CHECK(bench.talk.answer() == "Fine");

  bench.talk.clear();
  CHECK(bench.messages() == Json::array({said_by("system", "Be brief.")}));
  bench.talk.set_system("");
  CHECK(bench.messages().empty());
}

TEST_CASE("what a model thinks is told apart, before the text that comes with it, and is no part of the answer") {
  TalkBench bench({piece_of_answer("reasoning_content", "Hm.") +
                   event_of({{"choices", {{{"delta", {{"content", "So"}, {"reasoning_content", "Ah."}}}}}}})});
  CHECK(bench.ask());
  CHECK(bench.told == SaidTexts{"thought Hm.", "thought Ah.", "text So"});
  CHECK(bench.messages()[1] == said_by("assistant", "So"));
}

TEST_CASE("events without anything to tell are nothing, whatever they have in its place") {
  TalkBench bench({event_of(Json::object()) + event_of({{"choices", nullptr}}) +
                   event_of({{"choices", Json::array()}}) + event_of({{"choices", {1}}}) +
                   event_of({{"choices", {{{"delta", "x"}}}}}) + event_of({{"choices", {{{"delta", nullptr}}}}}) +
                   event_of({{"choices", {{{"delta", {{"content", 5}}}}}}}) + event_of({{"usage", nullptr}}) +
                   event_of({{"timings", 3}}) + event_of({{"error", nullptr}}) + piece("") + piece("x")});
  CHECK(bench.ask());
  CHECK(bench.told == SaidTexts{"text x"});
  CHECK_FALSE(bench.talk.speed().tokens);
}

TEST_CASE("an answer that fails in its middle is no part of the conversation, and says why") {
  const std::string why =
      GENERATE(R"({"error":{"message":"the runtime has died"}})", R"({"error":"the runtime has died"})");
  TalkBench bench({piece("one"), piece("half") + "data: " + why + "\n\n" + piece("more"), piece("two")});
  bench.ask("1");
  const Json before = bench.messages();
  CHECK_THROWS_AS(bench.ask("2"), ServerRefuses);
  CHECK(bench.told == SaidTexts{"text half"});
  CHECK(bench.messages() == before);
  bench.ask("3");
  CHECK(bench.messages().size() == 4);
  CHECK(bench.messages()[2] == said_by("user", "3"));
}

TEST_CASE("an error of a server's without words is told as it came") {
  TalkBench bench({event_of({{"error", {{"code", 7}}}})});
  CHECK_THROWS_WITH(bench.ask(), has_text(R"({"code":7})"));
}

TEST_CASE("an event that is no JSON object ends the answer with what it was") {
  const std::string data = GENERATE("no JSON", "[1]", "\"x\"");
  TalkBench bench({"data: " + data + "\n\n"});
  try {
    bench.ask();
    FAIL("it was taken");
  } catch (const client::ConnectionError& error) {
    CHECK_THAT(error.what(), has_text("no JSON object: " + data));
  }
  CHECK(bench.messages().empty());
}

TEST_CASE("of an answer that is stopped there is what has come, and the conversation goes on with it") {
  const LinkBench server([](WebServer::Socket& socket) {
    WebServer::send(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + piece("half"));
    WebServer::await_end(socket);
  });
  ServerLink link = server.link();
  ModelConversation talk(link, "fast");
  std::atomic<bool> is_told{false};
  const ModelConversation::Listener listener{[&](const std::string&) { is_told = true; }, [](const std::string&) {},
                                             [&] { return is_told.load(); }};
  CHECK(talk.ask("Hi", listener) == ModelConversation::End::kStopped);
  CHECK(talk.to_json()["messages"] == Json::array({said_by("user", "Hi"), said_by("assistant", "half")}));
}

TEST_CASE("what a listener throws leaves the conversation as it was") {
  TalkBench bench({piece("one")});
  const ModelConversation::Listener listener{[](const std::string&) { throw std::domain_error("full"); },
                                             [](const std::string&) {}, [] { return false; }};
  CHECK_THROWS_AS(bench.talk.ask("Hi", listener), std::domain_error);
  CHECK(bench.messages().empty());
}

TEST_CASE("how fast an answer came is what the server says last, and is known anew for each") {
  TalkBench bench({piece("a") + event_of({{"timings", {{"predicted_n", 2}, {"predicted_per_second", 4.5}}}}) +
                       event_of({{"timings", {{"predicted_n", 3}, {"predicted_per_second", 5}}}}) +
                       event_of({{"choices", Json::array()}, {"usage", {{"completion_tokens", 7}}}}),
                   ""});
  bench.ask();
  CHECK(bench.talk.speed().tokens == 7);
  CHECK(bench.talk.speed().tokens_per_second == 5.0);
  CHECK(bench.talk.speed().first_token->count() >= 0);
  bench.ask();
  CHECK(bench.talk.answer().empty());
  CHECK(bench.talk.speed().text().empty());
}

TEST_CASE("where a server does not say how fast it is, that is known of several tokens, and not of one") {
  const auto speed = [](const char* pieces, int tokens) {
    std::string events;
    for (const char each : std::string_view(pieces)) events += piece(std::string(1, each));
    TalkBench bench({events + event_of({{"usage", {{"completion_tokens", tokens}}}})});
    bench.ask();
    return bench.talk.speed().tokens_per_second;
  };
  CHECK(speed("ab", 2).value_or(0) > 0);
  CHECK_FALSE(speed("ab", 1));
  CHECK_FALSE(speed("a", 5));  // in no time
}

TEST_CASE("a speed is told as far as it is known") {
  using Seconds = std::chrono::duration<double>;
  CHECK(AnswerSpeed{Seconds(0.421), 12.34, 5}.text() == "12.3 tokens/s, first token after 0.42 s");
  CHECK(AnswerSpeed{{}, 12.34, {}}.text() == "12.3 tokens/s");
  CHECK(AnswerSpeed{Seconds(2), {}, {}}.text() == "first token after 2.00 s");
  CHECK(AnswerSpeed{{}, {}, 5}.text().empty());
}

TEST_CASE("who names no model talks to the first that is loaded and no profile, else to the first") {
  const Json loaded{{"state", "loaded"}};
  Json list{{"data", {offered_entry("one"), offered_entry("two"), offered_entry("three")}}};
  CHECK(chosen_of(list, "") == "one");
  list["data"][1]["rkllm"] = loaded;
  CHECK(chosen_of(list, "") == "two");
}

TEST_CASE("a model is chosen by its name, or by what stands before its tag, and else it is said what there is") {
  const Json list{{"data", {offered_entry("qwen3:0.6b"), offered_entry("gemma"), 7, {{"id", 5}}}}};
  CHECK(chosen_of(list, "gemma") == "gemma");
  CHECK(chosen_of(list, "qwen3") == "qwen3:0.6b");
  CHECK_THROWS_WITH(chosen_of(list, "gem"), has_text("there is no model gem"));  // a beginning is no name
  CHECK_THROWS_WITH(chosen_of(list, "gema"), has_text("there is no model gema") && has_text("gemma") &&
                                                 has_text("The server offers: qwen3:0.6b"));
}

TEST_CASE("a server without models, or without chats, is told as that") {
  CHECK_THROWS_WITH(chosen_of(Json{{"data", Json::array()}}, ""), has_text("offers no model yet"));
  for (const Json& list : {Json::object(), Json::array(), Json{{"data", 5}}}) {
    CHECK_THROWS_WITH(chosen_of(list, ""), has_text("lists no models: is this an rkllm-mcp server?"));
  }
  const LinkBench server(web_answer("", "text/plain", "", "404 Not Found"));
  ServerLink link = server.link();
  CHECK_THROWS_WITH(chosen_model(link, ""), has_text("answers no chats"));
  const LinkBench closed(web_answer("", "text/plain", "", "401 Unauthorized"));
  ServerLink other = closed.link();
  CHECK_THROWS_AS(chosen_model(other, ""), ServerRefuses);
}

}  // namespace rkllm_mcp::test
