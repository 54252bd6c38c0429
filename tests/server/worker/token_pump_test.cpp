// Tokens of a run that are read on the event loop: their order, readers that are slow, and who gets what else comes.
#include "worker/token_pump.hpp"

#include "process/descriptor.hpp"
#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;

namespace {

constexpr std::uint32_t kRunNumber = 7;
constexpr std::chrono::milliseconds kInterval{5};

// Takes tokens while there is room. Everything on the loop.
class SlowReader final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view> text, std::int32_t) noexcept override {
    told += "waited:" + std::string(text.value_or("-")) + " ";
  }
  bool offer_token(std::size_t, std::optional<std::string_view> text, std::int32_t,
                   const std::function<void()>& tell) noexcept override {
    if (room == 0) {
      on_room = tell;
      ++refusals;
      return false;
    }
    --room;
    told += std::string(text.value_or("-")) + " ";
    return true;
  }
  void on_rows(const FloatRows& rows) noexcept override { told += std::to_string(rows.rows) + " rows "; }
  void on_done(CallOutcome) noexcept override {}
  bool wants_to_stop() const noexcept override { return had_enough; }

  int room = 1000;
  int refusals = 0;
  bool had_enough = false;
  std::function<void()> on_room;
  std::string told;
};

// The two ends of a run, and the thread that waits for its end.
class PumpedRun {
 public:
  explicit PumpedRun(std::function<void(std::uint64_t)> look = [](std::uint64_t) {}) {
    pump_->start();
    end_ = std::async(std::launch::async, [this, look = std::move(look)] {
      const Frame frame = pump_->await(kInterval, look);
      return std::string(frame.content);
    });
  }
  ~PumpedRun() {
    hang_up();
    loop_.restart();
    loop_.run();
    if (end_.valid()) end_.wait();
  }

  void say(FrameType type, std::string_view content, std::uint32_t call = kRunNumber) {
    worker_.send({.type = type, .call = call}, content);
  }
  void say_tokens(const std::string& texts) {
    std::string content;
    for (const char& each : texts) append_token(content, {0, std::string_view(&each, 1), each});
    say(FrameType::kTokens, content);
  }
  void hang_up() { worker_.shut_down(); }
  template <class Predicate>
  void run_until(const Predicate& holds) {
    while (!holds()) loop_.run_one();
  }
  std::string end() {
    loop_.run();  // there is nothing to do any more once it has ended
    return end_.get();
  }

  SlowReader reader;
  int stops = 0;
  int stops_until_told = 1;

 private:
  asio::io_context loop_;
  DescriptorPair ends_ = make_stream_pair();
  FrameSocket worker_{std::move(ends_.first)};
  FrameSocket server_{std::move(ends_.second)};
  ReplyReader::Run run_{kRunNumber, reader, 1, [this] { return ++stops >= stops_until_told; }};
  ReplyReader reply_{kRunNumber, &run_};
  std::shared_ptr<TokenPump> pump_ = std::make_shared<TokenPump>(loop_, server_, reply_);
  std::future<std::string> end_;
};

}  // namespace

TEST_CASE("tokens are given on by the loop, in their order, and what comes then goes to the thread that waits") {
  PumpedRun run;
  run.say_tokens("ab");
  run.say_tokens("c");
  run.run_until([&] { return run.reader.told == "a b c "; });
  run.say_tokens("d");
  run.say(FrameType::kEnd, "{}");
  CHECK(run.end() == "{}");
  CHECK(run.reader.told == "a b c d ");
}

TEST_CASE("a reader without room is waited for, and told tokens come in their order") {
  PumpedRun run;
  run.reader.room = 1;
  run.say_tokens("abc");
  run.say_tokens("d");
  run.say(FrameType::kEnd, "{}");
  run.run_until([&] { return run.reader.refusals > 0; });
  CHECK(run.reader.told == "a ");
  run.reader.room = 2;
  run.reader.on_room();
  run.run_until([&] { return run.reader.told == "a b c "; });
  run.reader.room = 1;  // of which nobody tells
  CHECK(run.end() == "{}");
  CHECK(run.reader.told == "a b c d ");
}

TEST_CASE("a run is told to stop once, when its reader has had enough") {
  PumpedRun run;
  run.reader.had_enough = true;
  run.say_tokens("a");
  run.say_tokens("b");
  run.say(FrameType::kEnd, "{}");
  run.end();
  CHECK(run.stops == 1);
}

TEST_CASE("a run that could not be told to stop is told again while it goes on") {
  PumpedRun run;
  run.reader.had_enough = true;
  run.stops_until_told = 2;
  run.say_tokens("a");
  run.say_tokens("b");
  run.say_tokens("c");
  run.say(FrameType::kEnd, "{}");
  run.end();
  CHECK(run.stops == 2);
}

TEST_CASE("nonsense among tokens ends the waiting") {
  PumpedRun run;
  const auto [content, call] =
      GENERATE(table<std::string, std::uint32_t>({{std::string("\0\0", 2), kRunNumber}, {"", kRunNumber + 1}}));
  run.say(FrameType::kTokens, content, call);
  CHECK_THROWS_AS(run.end(), BadFrame);
}

TEST_CASE("the end of the worker ends the waiting") {
  PumpedRun run;
  run.say_tokens("a");
  run.run_until([&] { return run.reader.told == "a "; });
  run.hang_up();
  CHECK_THROWS_AS(run.end(), PeerGone);
}

TEST_CASE("who waits may give up, and nothing is given on after that") {
  struct Enough {};
  PumpedRun run([](std::uint64_t) { throw Enough(); });
  CHECK_THROWS_AS(run.end(), Enough);
  run.say_tokens("a");
  CHECK(run.reader.told.empty());
}
