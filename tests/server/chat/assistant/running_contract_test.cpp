// What chat/host/turn_listener.hpp promises of something that is being made for somebody (chat::Running), and of the
// order in which it is told, held against all that the chat host makes: a model's turn, a profile's, embeddings and a
// count. (Texts of a profile's provider: provider_contract_test.cpp.)
#include "chat/host/turn_listener.hpp"

#include "chat/assistant/assistants.hpp"
#include "chat/assistant/providers/model_provider.hpp"
#include "chat/host/chat_host.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Course = std::vector<std::string>;

// How what is made comes out.
enum class Result { kGood, kFailure };

// A run of it takes two steps of the lender, and tells nobody once the lease has ended.
class OneRowOfEach final : public chat::EmbeddingSeam {
 public:
  OneRowOfEach(chat::testing::ScriptedLender& lender, Result result) : lender_(lender), result_(result) {}

  const chat::EmbeddingFacts& facts() const override { return facts_; }
  void hidden_rows(std::string /*text*/, std::function<void(chat::HiddenRows)> done) override {
    lender_.actions.emplace_back([this, done = std::move(done)] {
      if (!lender_.embeddings_leased) return;
      lender_.actions.emplace_back([this, done] {
        if (!lender_.embeddings_leased) return;
        if (result_ == Result::kFailure) return done({.complaint = "the worker died"});
        done({.complaint = "", .values = {1, 0}, .rows = 1, .columns = 2});
      });
    });
  }

 private:
  chat::testing::ScriptedLender& lender_;
  const Result result_;
  const chat::EmbeddingFacts facts_{.max_context_len = 64};
};

// Nothing happens but in step().
class OfOneHost : protected chat::TurnListener {
 public:
  explicit OfOneHost(Result result) : rows_(lender_, result) {
    lender_.embedder = &rows_;
    lender_.info.state = chat::ModelState::kLoaded;
    lender_.info.loaded_since_s = 1;
    lender_.model.fails = result == Result::kFailure;
    lender_.model.breaks_off = true;  // so that it is not taken for too long a prompt
    lender_.model.answers = {{"The ", "answer ", "is 42."}};
  }
  OfOneHost(const OfOneHost&) = delete;
  OfOneHost& operator=(const OfOneHost&) = delete;
  ~OfOneHost() override { running.reset(); }

  // False: nothing is left to happen.
  virtual bool step() { return lender_.step(); }
  virtual bool has_nothing_left() {
    return host_.turns() == 0 && !lender_.leased && !lender_.embeddings_leased && !lender_.model.running &&
           lender_.places() == 0;
  }
  void settle() {
    while (step()) {
    }
  }
  std::size_t ends() const {
    return static_cast<std::size_t>(std::ranges::count(told, "finished") + std::ranges::count(told, "failed"));
  }
  void give_up() {
    is_inside_ = true;
    running.reset();
    is_inside_ = false;
  }

  std::unique_ptr<chat::Running> running;
  Course told;
  std::function<void(const std::string& what)> when_told;
  bool was_told_inside = false;  // of a function that has asked for it, or given it up

 protected:
  // Called by whoever derives from this, with what asks the host for something.
  void begin(const std::function<std::unique_ptr<chat::Running>()>& ask) {
    is_inside_ = true;
    running = ask();
    is_inside_ = false;
    REQUIRE(running != nullptr);
  }
  void hear(std::string what) {
    was_told_inside = was_told_inside || is_inside_;
    told.push_back(what);
    if (when_told) when_told(what);
  }
  static chat::Turn turn(const std::string& model) {
    chat::Turn turn;
    turn.model = model;
    turn.messages = {chat::text_message(chat::Role::kUser, "What is the answer?")};
    turn.thinking = chat::Thinking::kOff;
    return turn;
  }

  void begun(const chat::TurnBeginning& /*beginning*/) override { hear("begun"); }
  void event(const chat::AnswerEvent& /*event*/, std::size_t /*answer*/) override { hear("event"); }
  void ended(const chat::AnswerEnd& /*end*/, std::size_t /*answer*/) override { hear("ended"); }
  void finished(const chat::Usage& /*sum*/) override { hear("finished"); }
  void failed(const chat::TurnError& /*error*/) override { hear("failed"); }

  chat::testing::ScriptedLender lender_;
  OneRowOfEach rows_;
  chat::ChatHost host_{lender_, {}};

 private:
  bool is_inside_ = false;
};

// ChatHost::RunningTurn
struct OfModelTurn : OfOneHost {
  explicit OfModelTurn(Result result = Result::kGood) : OfOneHost(result) {
    begin([this] { return host_.start(turn("qwen3-0.6b"), {}, "peer", *this); });
  }
};

// Assistants::RunningTurn
struct OfProfileTurn : OfOneHost {
  explicit OfProfileTurn(Result result = Result::kGood) : OfOneHost(result) {
    chat::Profile profile;
    profile.name = "butler";
    profile.model = "qwen3-0.6b";
    profile.wordings[profile.default_language].prompts[chat::Purpose::kAnswer] = "{question}";
    REQUIRE(assistants_.use({profile}).empty());
    begin([this] { return host_.start(turn("butler"), {}, "peer", *this); });
  }
  ~OfProfileTurn() override { running.reset(); }
  bool step() override {
    if (OfOneHost::step()) return true;
    loop_.restart();
    return loop_.poll_one() > 0;
  }
  bool has_nothing_left() override { return OfOneHost::has_nothing_left() && assistants_.turns() == 0; }

 private:
  asio::io_context loop_;
  chat::ModelProvider provider_{host_};
  chat::Assistants assistants_{loop_, host_, {{chat::ProviderKind::kRuntime, &provider_}}, {}};
};

// ChatHost::RunningEmbedding
struct OfEmbeddings : OfOneHost {
  explicit OfEmbeddings(Result result = Result::kGood) : OfOneHost(result) {
    begin([this] {
      return host_.embed(
          {.model = "qwen3-0.6b", .inputs = {"one", "two"}}, {}, "peer",
          [this](const chat::Embeddings& /*made*/) { hear("finished"); },
          [this](const chat::TurnError& /*error*/) { hear("failed"); });
    });
  }
};

// ChatHost::RunningCount
struct OfCount : OfOneHost {
  explicit OfCount(Result result = Result::kGood) : OfOneHost(result) {
    begin([this] {
      return host_.count(turn("qwen3-0.6b"), {}, "peer",
                         [this](std::optional<std::int64_t> tokens) { hear(tokens ? "finished" : "failed"); });
    });
  }
};

}  // namespace

#define ALL_THAT_RUNS OfModelTurn, OfProfileTurn, OfEmbeddings, OfCount

TEMPLATE_TEST_CASE("what is made for somebody is told to be finished, or to have failed, once, last, and later", "",
                   ALL_THAT_RUNS) {
  const Result result = GENERATE(Result::kGood, Result::kFailure);
  TestType one(result);
  CHECK(one.told.empty());
  one.settle();
  CHECK(one.ends() == 1);
  REQUIRE_FALSE(one.told.empty());
  CHECK(one.told.back() == (result == Result::kGood ? "finished" : "failed"));
  CHECK_FALSE(one.was_told_inside);
  CHECK(one.has_nothing_left());
}

TEMPLATE_TEST_CASE("an answer begins once, before its first event, and has ended before it is finished", "",
                   OfModelTurn, OfProfileTurn) {
  TestType one;
  one.settle();
  Course course = one.told;
  course.erase(std::unique(course.begin(), course.end()), course.end());
  CHECK(course == Course{"begun", "event", "ended", "finished"});
  for (const char* const once : {"begun", "ended", "finished"}) CHECK(std::ranges::count(one.told, once) == 1);
}

TEMPLATE_TEST_CASE("whoever gives up what is made for them hears nothing more, and nothing is left of it, at any step",
                   "", ALL_THAT_RUNS) {
  const Result result = GENERATE(Result::kGood, Result::kFailure);
  for (int steps = 0;; ++steps) {
    INFO(steps);
    TestType one(result);
    int left = steps;
    while (left > 0 && one.step()) --left;
    const Course before = one.told;
    one.give_up();
    one.settle();
    CHECK(one.told == before);
    CHECK_FALSE(one.was_told_inside);
    CHECK(one.has_nothing_left());
    if (left > 0) {  // it was over before so many steps
      CHECK(one.ends() == 1);
      break;
    }
  }
}

TEMPLATE_TEST_CASE("whoever gives up what is made for them while they are told of it hears nothing more", "",
                   ALL_THAT_RUNS) {
  const Result result = GENERATE(Result::kGood, Result::kFailure);
  const std::string where = GENERATE("begun", "event", "ended", "finished", "failed");
  TestType one(result);
  one.when_told = [&one, &where](const std::string& what) {
    if (what == where) one.running.reset();
  };
  one.settle();
  CHECK(one.has_nothing_left());
  if (one.running) return;  // it is not told so
  CHECK(std::ranges::count(one.told, where) == 1);
  CHECK(one.told.back() == where);
}

TEMPLATE_TEST_CASE("what is made for somebody who takes no more for a while comes when they can, or not at all", "",
                   ALL_THAT_RUNS) {
  const bool goes_on = GENERATE(true, false);
  for (int steps = 0;; ++steps) {
    INFO(steps);
    TestType one;
    int left = steps;
    while (left > 0 && one.step()) --left;
    one.running->hold();
    one.settle();
    if (goes_on) {
      one.running->go_on();
      one.settle();
      CHECK(one.ends() == 1);
      CHECK(one.told.back() == "finished");
    } else {
      const Course before = one.told;
      one.give_up();
      one.settle();
      CHECK(one.told == before);
    }
    CHECK(one.has_nothing_left());
    if (left > 0) break;
  }
}

}  // namespace rkllm_mcp::test
