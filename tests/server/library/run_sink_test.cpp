#include "library/run_sink.hpp"

#include "clock.hpp"
#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr std::chrono::seconds kSinkPatience{60};

// Writes down what it is told.
class WrittenCall final : public CallObserver {
 public:
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override {
    tokens.push_back(std::to_string(batch) + ":" + std::string(text.value_or("(none)")) + "#" +
                     std::to_string(token_id));
  }
  void on_rows(const FloatRows& lent) noexcept override {
    rows.emplace_back(lent.values, lent.values + lent.rows * lent.columns);
  }
  void on_done(CallOutcome) noexcept override { is_done = true; }
  void stop() noexcept override { ++stops; }
  bool wants_to_stop() const noexcept override { return is_stop_wanted; }

  std::vector<std::string> tokens;
  std::vector<std::vector<float>> rows;
  bool is_done = false;
  int stops = 0;
  bool is_stop_wanted = false;
};

// A reader that is so slow that its run waits until it is stopped.
class FullCall final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {
    waits.set_value();
    was_stopped = stopped_.get_future().wait_for(kSinkPatience) == std::future_status::ready;
  }
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}
  void stop() noexcept override { stopped_.set_value(); }

  std::promise<void> waits;
  std::atomic<bool> was_stopped{false};

 private:
  std::promise<void> stopped_;
};

struct SinkBench {
  explicit SinkBench(std::size_t batch_size = 1) : sink(*call, batch_size, [this] { ++aborts; }) {}

  CallOutcome outcome() const {
    CallOutcome told;
    sink.complete(told);
    return told;
  }
  RunFacts facts() const {
    CallOutcome told;
    return sink.complete(told);
  }

  std::shared_ptr<WrittenCall> call = std::make_shared<WrittenCall>();
  int aborts = 0;
  RunSink sink;
};

constexpr std::array<float, 6> kSixFloats{1, 2, 3, 4, 5, 6};

FloatRows lent_rows(std::size_t columns) {
  return {"logits", "logits", "num_tokens", "vocab_size", kSixFloats.data(), kSixFloats.size() / columns, columns};
}

bool does_not_run_any_more() { return false; }  // what await_end() asks is whether it still runs

}  // namespace

TEST_CASE("the tokens of a run reach its observer as they came, but for those that are none") {
  SinkBench run(3);
  CHECK(run.sink.batch_size() == 3);
  run.sink.on_token(0, "a", 7);
  run.sink.on_token(1, std::nullopt, 8);   // a character that is not whole yet
  run.sink.on_token(2, std::nullopt, -1);  // an entry of the batch that has ended
  run.sink.on_token(2, "text", -1);
  run.sink.on_token(0, "", 0);
  run.sink.on_token(1, std::nullopt, 0);
  CHECK(run.call->tokens == std::vector<std::string>{"0:a#7", "1:(none)#8", "2:text#-1", "0:#0", "1:(none)#0"});
}

TEST_CASE("a run that nobody stops goes on after each callback") {
  SinkBench run;
  for (int callback = 0; callback < 3; ++callback) {
    run.sink.on_token(0, "a", callback);
    CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);
  }
  run.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);
  CHECK(run.aborts == 0);
  CHECK(run.call->stops == 0);
  CHECK_FALSE(run.outcome().aborted);
}

TEST_CASE("rows reach the observer, are freed after the callback that lent them, and tell a size") {
  SinkBench run;
  CHECK(run.facts().sizes.empty());
  run.sink.on_rows(lent_rows(3));
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOnAndFreeRows);
  CHECK(run.call->rows == std::vector<std::vector<float>>{{1, 2, 3, 4, 5, 6}});
  CHECK(run.facts().sizes == std::map<std::string, std::int64_t>{{"vocab_size", 3}});

  run.sink.on_token(0, "a", 1);
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);  // this callback has lent nothing

  run.sink.on_rows(lent_rows(2));
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOnAndFreeRows);
  CHECK(run.call->rows.size() == 2);
  CHECK(run.facts().sizes == std::map<std::string, std::int64_t>{{"vocab_size", 2}});
}

TEST_CASE("a run that is stopped is aborted at its next callback, once, and its outcome says so") {
  SinkBench run;
  run.sink.on_token(0, "a", 1);
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);
  run.sink.stop();
  CHECK(run.call->stops == 1);
  CHECK(run.aborts == 0);  // not outside of a callback
  CHECK_FALSE(run.outcome().aborted);
  run.sink.on_token(0, "b", 2);
  CHECK(run.aborts == 0);  // once all of this callback has been told
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);
  CHECK(run.aborts == 1);
  run.sink.on_token(0, "c", 3);
  run.sink.callback_return();
  CHECK(run.aborts == 1);
  CHECK(run.call->tokens.size() == 3);  // what still comes is told
  run.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  run.sink.callback_return();
  CHECK(run.aborts == 1);
  CHECK(run.outcome().aborted);
}

TEST_CASE("a run whose observer wants to stop is aborted inside the callback, which frees its rows all the same") {
  SinkBench run;
  run.sink.on_rows(lent_rows(2));
  run.call->is_stop_wanted = true;
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOnAndFreeRows);
  CHECK(run.aborts == 1);
  CHECK(run.outcome().aborted);
}

TEST_CASE("a run that has told its end is not aborted any more, which could hit the next one") {
  SinkBench stopped;
  stopped.sink.on_token(0, "a", 1);
  stopped.sink.callback_return();
  stopped.sink.stop();
  stopped.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK(stopped.sink.callback_return() == CallbackReturn::kGoOn);
  CHECK(stopped.aborts == 0);
  CHECK_FALSE(stopped.outcome().aborted);

  SinkBench unwanted;
  unwanted.call->is_stop_wanted = true;
  unwanted.sink.on_failure("RKLLM_RUN_ERROR");
  unwanted.sink.callback_return();
  CHECK(unwanted.aborts == 0);
}

TEST_CASE("stopping a run ends the wait for a slow reader, and the run is aborted on the runtime's thread") {
  const auto call = std::make_shared<FullCall>();
  std::thread::id aborting_thread;
  RunSink sink(*call, 1, [&] { aborting_thread = std::this_thread::get_id(); });
  std::future<std::thread::id> runtime = std::async(std::launch::async, [&] {
    sink.on_token(0, "a", 1);
    sink.callback_return();
    return std::this_thread::get_id();
  });
  CHECK(call->waits.get_future().wait_for(kSinkPatience) == std::future_status::ready);
  sink.stop();
  const std::thread::id runtime_thread = runtime.get();
  CHECK(aborting_thread == runtime_thread);
  CHECK(call->was_stopped);
}

TEST_CASE("the outcome of a run has the state in which it ended and what came with it") {
  SinkBench run;
  CHECK(run.outcome().state.empty());
  CHECK(run.outcome().values.is_null());
  run.sink.on_token(0, "a", 1);
  run.sink.on_end("RKLLM_RUN_FINISH", Json{{"perf", {{"prefill_tokens", 4}}}});
  const CallOutcome outcome = run.outcome();
  CHECK(outcome.state == "RKLLM_RUN_FINISH");
  CHECK(outcome.values == Json{{"perf", {{"prefill_tokens", 4}}}});
  CHECK_FALSE(outcome.aborted);
  CHECK_FALSE(run.facts().has_failed);
  CHECK_FALSE(run.sink.gave_up());
  CHECK_FALSE(run.call->is_done);  // of this whoever makes the call tells
}

TEST_CASE("a run that ends in a state of failure has failed, with that state and without values") {
  SinkBench run;
  CHECK_FALSE(run.facts().has_failed);
  run.sink.on_failure("RKLLM_RUN_ERROR");
  CHECK(run.sink.callback_return() == CallbackReturn::kGoOn);
  CHECK(run.facts().has_failed);
  CHECK(run.sink.await_end(does_not_run_any_more));
  CHECK_FALSE(run.sink.gave_up());
  CHECK(run.outcome().state == "RKLLM_RUN_ERROR");
  CHECK(run.outcome().values.is_null());
  run.sink.on_end("RKLLM_RUN_FINISH", nullptr);  // whatever comes after it
  CHECK(run.facts().has_failed);
}

TEST_CASE("a run was empty if it has come to its end without anything and nobody has stopped it") {
  SinkBench nothing;
  CHECK_FALSE(nothing.facts().was_empty);  // not at its end yet
  nothing.sink.on_token(0, std::nullopt, -1);
  nothing.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK(nothing.facts().was_empty);

  SinkBench token_without_text;
  token_without_text.sink.on_token(0, std::nullopt, 5);
  token_without_text.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK_FALSE(token_without_text.facts().was_empty);

  SinkBench rows;
  rows.sink.on_rows(lent_rows(1));
  rows.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK_FALSE(rows.facts().was_empty);

  SinkBench aborted;
  aborted.sink.stop();
  aborted.sink.on_token(0, std::nullopt, -1);
  aborted.sink.callback_return();
  aborted.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  CHECK_FALSE(aborted.facts().was_empty);
}

TEST_CASE("the end of a run is waited for while its thread is still inside the library") {
  SinkBench run;
  run.sink.on_end("RKLLM_RUN_FINISH", nullptr);
  int asked = 0;
  CHECK(run.sink.await_end([&] { return ++asked < 4; }));
  CHECK(asked == 4);
}

TEST_CASE("the end of a run that another thread tells is seen, with all that came before it") {
  SinkBench run;
  std::promise<void> about_to_wait;
  std::atomic<bool> is_running{true};
  std::future<void> runtime = std::async(std::launch::async, [&, begin = about_to_wait.get_future()] {
    begin.wait();
    run.sink.on_token(0, "a", 1);
    run.sink.callback_return();
    run.sink.on_end("RKLLM_RUN_FINISH", Json{{"perf", 1}});
    run.sink.callback_return();
    is_running = false;
  });
  about_to_wait.set_value();
  CHECK(run.sink.await_end([&] { return is_running.load(); }));
  CHECK_FALSE(is_running);
  CHECK(run.outcome().state == "RKLLM_RUN_FINISH");
  CHECK(run.outcome().values == Json{{"perf", 1}});
  CHECK_FALSE(run.sink.gave_up());
  runtime.get();
  CHECK(run.call->tokens == std::vector<std::string>{"0:a#1"});
}

TEST_CASE("a run that is not reported as running yet is waited for all the same") {
  constexpr std::chrono::milliseconds kAtFirst{100};
  SinkBench run;
  std::promise<void> about_to_wait;
  std::promise<void> told;
  const std::shared_future<void> is_told = told.get_future().share();
  std::future<void> runtime = std::async(std::launch::async, [&, begin = about_to_wait.get_future()] {
    begin.wait();
    run.sink.on_end("RKLLM_RUN_FINISH", nullptr);
    told.set_value();
  });
  const Clock::time_point begun = Clock::now();
  about_to_wait.set_value();
  // Who asks later than at first, on a busy machine, is answered when the end has been told: it may not give up then.
  CHECK(run.sink.await_end([&] {
    if (Clock::now() - begun > kAtFirst) is_told.wait();
    return false;
  }));
  CHECK(run.outcome().state == "RKLLM_RUN_FINISH");
  CHECK_FALSE(run.sink.gave_up());
  runtime.get();
}

TEST_CASE("a run keeps its observer for as long as callbacks may come") {
  auto call = std::make_shared<WrittenCall>();
  const std::weak_ptr<WrittenCall> kept = call;
  {
    RunSink sink(*call, 1, [] {});
    call.reset();
    REQUIRE_FALSE(kept.expired());
    sink.on_token(0, "late", 1);
    sink.on_end("RKLLM_RUN_FINISH", nullptr);
    sink.callback_return();
    CHECK(kept.lock()->tokens == std::vector<std::string>{"0:late#1"});
  }
  CHECK(kept.expired());
}

// As after a run that was given up. Whether both may touch the same at once the thread sanitizer says.
TEST_CASE("what a run has told may be asked while the runtime still calls back") {
  constexpr int kRounds = 200;
  SinkBench run;
  std::atomic<bool> is_late{true};
  std::future<void> runtime = std::async(std::launch::async, [&] {
    for (int round = 0; round < kRounds; ++round) {
      run.sink.on_token(0, std::nullopt, 1);
      run.sink.on_rows(lent_rows(3));
      run.sink.callback_return();
    }
    run.sink.on_failure("RKLLM_RUN_ERROR");
    is_late = false;
  });
  while (is_late) {
    CallOutcome outcome;
    const RunFacts facts = run.sink.complete(outcome);
    if (!facts.sizes.empty()) CHECK(facts.sizes.at("vocab_size") == 3);
    CHECK(facts.has_failed == (outcome.state == "RKLLM_RUN_ERROR"));
    CHECK_FALSE(facts.was_empty);
  }
  runtime.get();
  CHECK(run.facts().has_failed);
  CHECK(run.facts().sizes.size() == 1);
}
