#include "library/run_sink.hpp"

#include "clock.hpp"

#include <thread>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kLookAgain{1};  // seldom: each look wakes a thread for nothing
// A run that so many looks in a row find not running, without its last callback, has ended without one. Not the first
// look: the thread of a run that has just been made may not have started to work.
constexpr int kLooksToGiveUp = 2;
constexpr std::chrono::microseconds kLookAgainForTheEnd{100};
constexpr std::chrono::seconds kUnwinding{5};

}  // namespace

void RunSink::on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept {
  // The runtime tells of each entry of a batch, also of those that have ended.
  if (!text && token_id < 0) return;
  brought_anything_.store(true, std::memory_order_relaxed);  // read after the end, which takes a lock
  observer_->on_token(batch, text, token_id);
}

void RunSink::on_rows(const FloatRows& rows) noexcept {
  lent_rows_ = brought_anything_ = true;
  {
    const std::lock_guard lock(mutex_);
    sizes_[std::string(rows.columns_name)] = static_cast<std::int64_t>(rows.columns);
  }
  observer_->on_rows(rows);
}

void RunSink::on_end(std::string_view state, Json values) noexcept { end(state, std::move(values), false); }

void RunSink::on_failure(std::string_view state) noexcept { end(state, nullptr, true); }

void RunSink::end(std::string_view state, Json values, bool failed) noexcept {
  last_callback_ = true;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    failed_ = failed_ || failed;
    state_ = state;
    values_ = std::move(values);
  }
  ended_news_.notify_all();
}

CallbackReturn RunSink::callback_return() noexcept {
  // Stopping from inside the callback can hit no other run than this one.
  if (!last_callback_ && (stop_ || observer_->wants_to_stop()) && !aborted_.exchange(true)) abort_();
  return std::exchange(lent_rows_, false) ? CallbackReturn::kGoOnAndFreeRows : CallbackReturn::kGoOn;
}

bool RunSink::await_end(const std::function<bool()>& still_running) {
  int looks_at_rest = 0;
  std::unique_lock lock(mutex_);
  while (!ended_news_.wait_for(lock, kLookAgain, [this] { return ended_; })) {
    lock.unlock();
    looks_at_rest = still_running() ? 0 : looks_at_rest + 1;
    lock.lock();
    if (looks_at_rest < kLooksToGiveUp) continue;
    gave_up_ = !ended_;
    return ended_;
  }
  lock.unlock();
  // The last callback comes while the run's thread is still inside the library: until the run is reported as over, the
  // handle must not be used for anything else. (Destroying it then crashes runtime 1.3.0.)
  const auto ended = Clock::now();
  while (still_running() && Clock::now() - ended < kUnwinding) std::this_thread::sleep_for(kLookAgainForTheEnd);
  return true;
}

RunFacts RunSink::complete(CallOutcome& outcome) const {
  const std::lock_guard lock(mutex_);
  outcome.state = state_;
  outcome.values = values_;
  outcome.aborted = aborted_;
  return {failed_, !state_.empty() && !brought_anything_ && !aborted_, sizes_};
}

}  // namespace rkllm_mcp
