// What chat/host/turn_listener.hpp promises a TurnListener, from the side of those that listen: every course of calls
// that may come leads to one end for whoever has asked, and leaves nothing behind. (That such courses come, and no
// others, is in running_contract_test.cpp and provider_contract_test.cpp.)
//
// An exchange and a tool's call are told directly. An assistant's listeners are its own; they are told by the provider
// of its texts, and tell whoever has asked for the turn.
#include "chat/host/turn_listener.hpp"

#include "chat/assistant/assistants.hpp"
#include "chat/http/chat_exchange.hpp"
#include "chat/mcp/chat_call.hpp"
#include "runtime/fake_backend.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// What has come of a turn for whoever has asked for it.
struct EndOfTurn {
  std::size_t answers = 0;   // ends that were told: one at last
  std::size_t failures = 0;  // of those
  std::string said{};        // all of what was told
};

// A turn that somebody has asked for, and that never goes on by itself: the lender makes no step.
class OfOneListener {
 public:
  OfOneListener() = default;
  OfOneListener(const OfOneListener&) = delete;
  OfOneListener& operator=(const OfOneListener&) = delete;
  virtual ~OfOneListener() = default;

  virtual chat::TurnListener& listener() = 0;
  // Nothing is held any more for this turn.
  virtual bool has_nothing_left() { return host_.turns() == 0 && lender_.places() == 0; }
  void settle() {
    loop_.restart();
    loop_.poll();
  }

  EndOfTurn end;

 protected:
  asio::io_context loop_;
  chat::testing::ScriptedLender lender_;
  chat::ChatHost host_{lender_, {}};
};

// Notes what is sent.
class SentExchange final : public http::Exchange {
 public:
  explicit SentExchange(EndOfTurn& end) : end_(end) {}

  void respond(http::Response response) override {
    ++end_.answers;
    if (response.status != 200) ++end_.failures;
    end_.said += response.body;
  }
  void start_stream(int /*status*/, const http::Headers& /*headers*/) override {}
  void write(std::string_view bytes) override {
    if (bytes.find(R"("error")") != std::string_view::npos) ++end_.failures;
    end_.said += bytes;
  }
  void finish() override { ++end_.answers; }
  bool ready() const override { return true; }
  bool closed() const override { return false; }
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }

 private:
  EndOfTurn& end_;
};

enum class Sending { kWhole, kStream };

// ChatExchange
template <Sending kSending>
class OfExchange : public OfOneListener {
 public:
  OfExchange() {
    const Json body{{"model", "qwen3-0.6b"},
                    {"stream", kSending == Sending::kStream},
                    {"messages", {{{"role", "user"}, {"content", "What is the answer?"}}}}};
    chat::ChatExchange::Options options;
    options.heartbeat = std::chrono::hours(1);
    exchange_ = std::make_shared<chat::ChatExchange>(
        loop_, *sent_, chat::find_chat_endpoint("/v1/chat/completions")->read(body, {}), std::move(options),
        [this](int) { std::exchange(exchange_, nullptr).reset(); });
    exchange_->begin(host_, {}, "peer");
  }
  chat::TurnListener& listener() override { return *exchange_; }
  bool has_nothing_left() override { return OfOneListener::has_nothing_left() && exchange_ == nullptr; }

 private:
  std::shared_ptr<SentExchange> sent_ = std::make_shared<SentExchange>(end);
  std::shared_ptr<chat::ChatExchange> exchange_;
};
using OfWholeAnswer = OfExchange<Sending::kWhole>;
using OfStream = OfExchange<Sending::kStream>;

class ToldRequester final : public mcp::Requester {
 public:
  explicit ToldRequester(EndOfTurn& end) : end_(end) {}

  void result(Json body) override {
    ++end_.answers;
    if (body.value("isError", false)) ++end_.failures;
    end_.said += body.dump();
  }
  void error(const RpcError& error) override {
    ++end_.answers;
    ++end_.failures;
    end_.said += error.what();
  }
  void ask(mcp::Invocation& /*invocation*/, mcp::InputRequests /*requests*/, Json /*state*/) override {}
  void notify(std::string_view /*method*/, const Json& /*params*/) override {}
  bool ready() const override { return true; }

 private:
  EndOfTurn& end_;
};

// ChatCall
class OfToolCall : public OfOneListener {
 public:
  OfToolCall() {
    mcp::InvocationRequest request;
    request.session = std::make_shared<Session>(table_);
    request.session->principal = &principal_;
    request.reply = std::make_shared<Reply>(*peer_, "1");
    request.method = "tools/call";
    request.name = "chat";
    const auto invocation = std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<ToldRequester>(end),
                                                              [](mcp::Invocation&) {});
    call_ =
        std::make_shared<chat::ChatCall>(chat::ChatCall::Surroundings{loop_, host_, conversations_, is_simulated_},
                                         *invocation, Json{{"model", "qwen3-0.6b"}, {"message", "What is the answer?"}},
                                         [this] { std::exchange(call_, nullptr).reset(); });
    call_->begin();
  }
  chat::TurnListener& listener() override { return *call_; }
  bool has_nothing_left() override { return OfOneListener::has_nothing_left() && call_ == nullptr; }

 private:
  const Principal principal_{"somebody"};
  const std::function<bool()> is_simulated_ = [] { return true; };
  std::shared_ptr<RequestTable> table_ = std::make_shared<RequestTable>();
  std::shared_ptr<FakePeer> peer_ = std::make_shared<FakePeer>();
  chat::Conversations conversations_{loop_, nullptr};
  std::shared_ptr<chat::ChatCall> call_;
};

// Makes no text, and lets the test tell what comes of one.
class ToldProvider final : public chat::Provider {
 public:
  std::unique_ptr<chat::Running> make(const chat::Profile& /*profile*/, chat::TextWish /*wish*/,
                                      const chat::Asker& /*asker*/, const std::string& /*peer*/,
                                      chat::TurnListener& listener) override {
    told = &listener;
    return std::make_unique<Text>(*this);
  }

  chat::TurnListener* told = nullptr;  // null: no text is being made

 private:
  struct Text final : chat::Running {
    explicit Text(ToldProvider& provider) : provider_(provider) {}
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    ~Text() override { provider_.told = nullptr; }

   private:
    ToldProvider& provider_;
  };
};

// AssistantCalls::TextCollector, which is what the provider tells, and AssistantTurn::TextRelay, whom that tells of the
// answer.
class OfAssistant : public OfOneListener, private chat::TurnListener {
 public:
  OfAssistant() {
    chat::Profile profile;
    profile.name = "butler";
    profile.model = "qwen3-0.6b";
    profile.wordings[profile.default_language].prompts[chat::Purpose::kAnswer] = "{question}";
    REQUIRE(assistants_.use({profile}).empty());
    chat::Turn turn;
    turn.model = "butler";
    turn.messages = {chat::text_message(chat::Role::kUser, "What is the answer?")};
    running_ = host_.start(std::move(turn), {}, "peer", *this);
    settle();
  }
  OfAssistant(const OfAssistant&) = delete;
  OfAssistant& operator=(const OfAssistant&) = delete;
  ~OfAssistant() override { running_.reset(); }

  chat::TurnListener& listener() override {
    REQUIRE(provider_.told != nullptr);
    return *provider_.told;
  }
  bool has_nothing_left() override {
    return OfOneListener::has_nothing_left() && assistants_.turns() == 0 && provider_.told == nullptr;
  }

 private:
  void event(const chat::AnswerEvent& event, std::size_t /*answer*/) override {
    if (const auto* const text = std::get_if<chat::TextDelta>(&event)) end.said += text->text;
  }
  void ended(const chat::AnswerEnd& /*end*/, std::size_t /*answer*/) override {}
  void finished(const chat::Usage& /*sum*/) override { ++end.answers; }
  void failed(const chat::TurnError& error) override {
    ++end.answers;
    ++end.failures;
    end.said += error.what();
  }

  ToldProvider provider_;
  chat::Assistants assistants_{loop_, host_, {{chat::ProviderKind::kRuntime, &provider_}}, {}};
  std::unique_ptr<chat::Running> running_;
};

const chat::TurnError& failure_of_turn() {
  static const chat::TurnError error(chat::ErrorKind::kRuntimeFailed, "the worker died");
  return error;
}

template <class Kind>
void tell_waiting(Kind& one) {
  one.listener().queued(2);
  one.listener().queued(1);
  one.listener().loading({.bytes = 1, .total = 2});
  one.listener().queued(0);
}

}  // namespace

#define EVERY_LISTENER OfWholeAnswer, OfStream, OfToolCall, OfAssistant

TEMPLATE_TEST_CASE("who has asked for a turn gets all of its answer and one end of it, and then its listener is gone",
                   "", EVERY_LISTENER) {
  TestType one;
  tell_waiting(one);
  one.listener().begun({});
  for (const char* const piece : {"The ", "answer ", "is 42."}) {
    one.listener().progress({1, 1.0, 1}, 0);
    one.listener().event(chat::TextDelta{piece}, 0);
  }
  one.listener().ended({}, 0);
  CHECK(one.end.answers == 0);
  CHECK_FALSE(one.has_nothing_left());
  one.listener().finished({});
  one.settle();
  CHECK(one.end.answers == 1);
  CHECK(one.end.failures == 0);
  for (const char* const word : {"The", "answer", "42"}) CHECK_THAT(one.end.said, has_text(word));
  CHECK(one.has_nothing_left());
}

TEMPLATE_TEST_CASE("an answer may be empty", "", EVERY_LISTENER) {
  TestType one;
  one.listener().begun({});
  one.listener().ended({}, 0);
  one.listener().finished({});
  one.settle();
  CHECK(one.end.answers == 1);
  CHECK(one.end.failures == 0);
  CHECK(one.has_nothing_left());
}

TEMPLATE_TEST_CASE("a turn may fail at any time, and that is then its one end", "", EVERY_LISTENER) {
  const std::vector<std::function<void(chat::TurnListener&)>> course{
      [](auto& listener) { listener.queued(1); },
      [](auto& listener) { listener.loading({}); },
      [](auto& listener) { listener.begun({}); },
      [](auto& listener) { listener.event(chat::ThinkingDelta{"Hm."}, 0); },
      [](auto& listener) {
        listener.progress({1, 1.0, 1}, 0);
      },
      [](auto& listener) { listener.event(chat::TextDelta{"The answer"}, 0); },
      [](auto& listener) { listener.ended({}, 0); }};
  for (std::size_t told = 0; told <= course.size(); ++told) {
    INFO(told);
    TestType one;
    for (std::size_t at = 0; at < told; ++at) course[at](one.listener());
    CHECK(one.end.answers == 0);
    one.listener().failed(failure_of_turn());
    one.settle();
    CHECK(one.end.answers == 1);
    CHECK(one.end.failures == 1);
    CHECK_THAT(one.end.said, has_text(failure_of_turn().what()));
    CHECK(one.has_nothing_left());
  }
}

}  // namespace rkllm_mcp::test
