// What chat/assistant/providers/provider.hpp promises (Provider), and with it chat/host/turn_listener.hpp of what is
// being made (chat::Running), held against every provider of texts: a model of this server, and other servers of both
// kinds.
#include "chat/assistant/providers/model_provider.hpp"
#include "chat/assistant/providers/remote_provider.hpp"

#include "runtime/transport/loop_thread.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"
#include "support/web_server.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// What comes of the next text.
enum class Outcome { kAnswer, kFailure, kNoEnd };

const std::vector<std::string>& pieces_of_answer() {
  static const std::vector<std::string> pieces{"The ", "answer ", "is 42."};
  return pieces;
}

// Keeps what it is told, in order, and does at the first of each kind what a test wants done there. On the loop.
class ListenerOfOneText final : public chat::TurnListener {
 public:
  explicit ListenerOfOneText(asio::io_context& loop) : loop_(loop) {}

  void begun(const chat::TurnBeginning& /*beginning*/) override { hear("begun"); }
  void event(const chat::AnswerEvent& event, std::size_t answer) override {
    most_answers_ = std::max(most_answers_, answer + 1);
    append(answer_, event);
    hear("event");
  }
  void ended(const chat::AnswerEnd& /*end*/, std::size_t answer) override {
    most_answers_ = std::max(most_answers_, answer + 1);
    hear("ended");
  }
  void finished(const chat::Usage& /*sum*/) override { hear("finished"); }
  void failed(const chat::TurnError& /*error*/) override { hear("failed"); }

  std::size_t count(std::string_view what) const { return static_cast<std::size_t>(std::ranges::count(heard_, what)); }
  // Without the events behind the first.
  std::vector<std::string> course() const {
    std::vector<std::string> course = heard_;
    course.erase(std::unique(course.begin(), course.end()), course.end());
    return course;
  }
  const std::vector<std::string>& heard() const { return heard_; }
  const std::string& text() const { return answer_.text; }
  std::size_t most_answers() const { return most_answers_; }
  bool was_told_elsewhere() const { return was_told_elsewhere_; }

  std::map<std::string, std::function<void()>> at_first;  // by what is heard
  bool is_being_asked_for = false;                        // the provider is inside of make()
  std::unique_ptr<chat::Running> running;

 private:
  void hear(const std::string& what) {
    heard_.push_back(what);
    was_told_elsewhere_ |= is_being_asked_for || !loop_.get_executor().running_in_this_thread();
    const auto action = std::exchange(at_first[what], nullptr);
    if (action) action();
  }

  asio::io_context& loop_;
  std::vector<std::string> heard_;
  chat::Answer answer_;
  std::size_t most_answers_ = 0;
  bool was_told_elsewhere_ = false;
};

class OfOneProvider {
 public:
  OfOneProvider() {
    profile.model = wish.turn.model = "qwen3-0.6b";
    wish.turn.messages = {chat::text_message(chat::Role::kUser, "What is the answer?")};
  }

  // On the loop.
  void begin() {
    listener.is_being_asked_for = true;
    const struct Leave {
      bool& is_inside;
      ~Leave() { is_inside = false; }
    } leave{listener.is_being_asked_for};
    listener.running = provider->make(profile, wish, {}, "peer", listener);
  }

  chat::Profile profile;
  chat::TextWish wish;
  std::unique_ptr<chat::Provider> provider;
  LoopThread loop;
  ListenerOfOneText listener{loop.io()};

 protected:
  // Before what the provider uses is gone: members of whoever derives from this are the first to go.
  void give_up() {
    loop.call([this] {
      listener.running.reset();
      provider.reset();
    });
  }
};

struct OfModel : OfOneProvider {
  explicit OfModel(Outcome outcome = Outcome::kAnswer) {
    // One without an end needs nothing else: nothing comes but while a test waits for it.
    lender_.model.fails = outcome == Outcome::kFailure;
    lender_.model.answers = {pieces_of_answer()};
    loop.call([this] { provider = std::make_unique<chat::ModelProvider>(host_); });
  }
  ~OfModel() { give_up(); }
  void make_wrong() { wish.turn.model = "no-such-model"; }
  bool until(const std::function<bool()>& condition) {
    return loop.eventually([&] {
      lender_.step();
      return condition();
    });
  }
  // After the text has ended or was given up.
  bool has_nothing_left() {
    return loop.call([this] {
      lender_.settle();
      return host_.turns() == 0 && !lender_.model.running;
    });
  }

 private:
  chat::testing::ScriptedLender lender_;
  chat::ChatHost host_{lender_, {}};
};

// RemoteProvider, whose texts are RemoteProvider::Text
template <chat::ProviderKind kKind>
struct OfOtherServer : OfOneProvider {
  explicit OfOtherServer(Outcome outcome = Outcome::kAnswer)
      : web_([outcome](const std::string&, WebServer::Socket& socket) { serve(outcome, socket); }) {
    profile.provider = kKind;
    profile.url = web_.url();
    loop.call([this] {
      auto made = std::make_unique<chat::RemoteProvider>(loop.io(), chat::RemoteProvider::Options{});
      remote_ = made.get();
      provider = std::move(made);
    });
  }
  ~OfOtherServer() { give_up(); }
  void make_wrong() { profile.url = "no address"; }
  bool until(const std::function<bool()>& condition) { return loop.eventually(condition); }
  bool has_nothing_left() {
    const bool has_ended = remote_->end(Clock::now() + kPatience);
    loop.call([] {});  // what its threads have still told
    return has_ended;
  }

 private:
  static constexpr bool kIsOllama = kKind == chat::ProviderKind::kOllama;

  static std::string line(const std::string& text) {
    if constexpr (kIsOllama) return Json{{"response", text}, {"done", false}}.dump() + "\n";
    const Json choice{{"delta", {{"content", text}}}};
    return "data: " + Json{{"choices", {choice}}}.dump() + "\n\n";
  }
  static std::string end() {
    if constexpr (kIsOllama) return Json{{"response", ""}, {"done", true}}.dump() + "\n";
    return "data: [DONE]\n\n";
  }
  static void serve(Outcome outcome, WebServer::Socket& socket) {
    if (outcome == Outcome::kFailure) {
      WebServer::send(socket, web_answer(R"({"error":"out of memory"})", "application/json", {}, "500 Broken"));
      return;
    }
    std::string body;
    for (const std::string& piece : pieces_of_answer()) body += line(piece);
    const std::string whole = web_answer(body + end(), "text/plain");
    const std::size_t first = whole.size() - end().size() - line(pieces_of_answer().back()).size();
    WebServer::send(socket, whole.substr(0, first));
    if (outcome == Outcome::kNoEnd) return WebServer::await_end(socket);
    WebServer::send(socket, whole.substr(first));
  }

  WebServer web_;
  chat::RemoteProvider* remote_ = nullptr;
};
using OfOllama = OfOtherServer<chat::ProviderKind::kOllama>;
using OfOpenAi = OfOtherServer<chat::ProviderKind::kOpenAi>;

}  // namespace

#define EVERY_PROVIDER OfModel, OfOllama, OfOpenAi

TEMPLATE_TEST_CASE("a text of any provider begins, comes, ends and is finished, in that order and from the loop", "",
                   EVERY_PROVIDER) {
  TestType one;
  one.loop.call([&] { one.begin(); });
  CHECK(one.until([&] { return one.listener.count("finished") > 0; }));
  CHECK(one.has_nothing_left());
  one.loop.call([&] {
    CHECK(one.listener.course() == std::vector<std::string>{"begun", "event", "ended", "finished"});
    for (const char* const once : {"begun", "ended", "finished"}) CHECK(one.listener.count(once) == 1);
    CHECK(one.listener.text() == "The answer is 42.");
    CHECK(one.listener.most_answers() == 1);
    CHECK_FALSE(one.listener.was_told_elsewhere());
  });
}

TEMPLATE_TEST_CASE("a text of any provider that fails says so once, and nothing after it", "", EVERY_PROVIDER) {
  TestType one(Outcome::kFailure);
  one.loop.call([&] { one.begin(); });
  CHECK(one.until([&] { return one.listener.count("failed") > 0; }));
  CHECK(one.has_nothing_left());
  one.loop.call([&] {
    CHECK(one.listener.heard().back() == "failed");
    CHECK(one.listener.count("failed") == 1);
    CHECK(one.listener.count("ended") + one.listener.count("finished") == 0);
    CHECK_FALSE(one.listener.was_told_elsewhere());
  });
}

TEMPLATE_TEST_CASE("what is known to be wrong with a text is thrown by any provider, and its listener hears nothing",
                   "", EVERY_PROVIDER) {
  TestType one;
  one.loop.call([&] {
    one.make_wrong();
    CHECK_THROWS_AS(one.begin(), chat::TurnError);
  });
  CHECK(one.has_nothing_left());
  CHECK(one.loop.call([&] { return one.listener.heard().empty(); }));
}

TEMPLATE_TEST_CASE("whoever gives up a text of any provider hears nothing more of it, wherever it is", "",
                   EVERY_PROVIDER) {
  for (const std::string where : {"begun", "event", "ended", "finished"}) {
    INFO(where);
    TestType one;
    one.loop.call([&] {
      one.listener.at_first[where] = [&] { one.listener.running.reset(); };
      one.begin();
    });
    CHECK(one.until([&] { return one.listener.count(where) > 0; }));
    CHECK(one.has_nothing_left());
    one.loop.call([&] {
      CHECK(one.listener.count(where) == 1);
      CHECK(one.listener.heard().back() == where);
    });
  }
  TestType failing(Outcome::kFailure);
  failing.loop.call([&] {
    failing.listener.at_first["failed"] = [&] { failing.listener.running.reset(); };
    failing.begin();
  });
  CHECK(failing.until([&] { return failing.listener.count("failed") > 0; }));
  CHECK(failing.has_nothing_left());
  CHECK(failing.loop.call([&] { return failing.listener.heard().back() == "failed"; }));
}

TEMPLATE_TEST_CASE(
    "a text of any provider that is given up before its first word, or in the middle, costs nothing more", "",
    EVERY_PROVIDER) {
  for (const bool is_begun : {false, true}) {
    INFO(is_begun);
    TestType one(Outcome::kNoEnd);
    one.loop.call([&] {
      one.begin();
      if (!is_begun) one.listener.running.reset();
    });
    if (is_begun) CHECK(one.until([&] { return one.listener.count("event") > 0; }));
    const auto before = one.loop.call([&] {
      one.listener.running.reset();
      return one.listener.heard().size();
    });
    CHECK(one.has_nothing_left());
    CHECK(one.loop.call([&] { return one.listener.heard().size(); }) == before);
  }
}

TEMPLATE_TEST_CASE(
    "a text of any provider whose listener takes no more for a while comes whole when it goes on, or not "
    "at all",
    "", EVERY_PROVIDER) {
  for (const bool goes_on : {true, false}) {
    INFO(goes_on);
    TestType one;
    one.loop.call([&] {
      one.listener.at_first["event"] = [&] { one.listener.running->hold(); };
      one.begin();
    });
    CHECK(one.until([&] { return one.listener.count("event") > 0; }));
    one.loop.call([&] {
      if (goes_on) return one.listener.running->go_on();
      one.listener.running.reset();
    });
    if (goes_on) {
      CHECK(one.until([&] { return one.listener.count("finished") > 0; }));
      CHECK(one.loop.call([&] { return one.listener.text(); }) == "The answer is 42.");
    }
    CHECK(one.has_nothing_left());
  }
}

}  // namespace rkllm_mcp::test
