// Between the runtime's result callback and the observer of one call: forwards tokens, notes how the run ended, and
// stops it from inside the callback when the call is to be stopped.
//
// Threads: the ResultSink functions come from the runtime's threads (one at a time for one run; also later, from a run
// that was given up), stop() from any; await_end() and the rest from the thread that makes the call.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/result_sink.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rkllm_mcp {

// What a run has shown.
struct RunFacts {
  bool has_failed = false;  // it has come to its end in a state that means failure, whatever its function has returned
  bool was_empty = false;   // it has come to its end without anything: the library took its input for none
  std::map<std::string, std::int64_t> sizes{};  // by the name of the C field
};

class RunSink : public ResultSink {
 public:
  // Keeps the observer. `abort` stops the run; it is called on the runtime's thread, inside a callback, where the
  // runtime allows it.
  RunSink(CallObserver& observer, std::size_t batch_size, std::function<void()> abort)
      : observer_(observer.shared_from_this()), batch_size_(batch_size), abort_(std::move(abort)) {}

  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override;
  void on_rows(const FloatRows& rows) noexcept override;
  void on_end(std::string_view state, Json values) noexcept override;
  void on_failure(std::string_view state) noexcept override;
  CallbackReturn callback_return() noexcept override;
  bool await_end(const std::function<bool()>& still_running) override;
  std::size_t batch_size() const noexcept override { return batch_size_; }

  // Stops the run at its next callback, or in the one that waits for a slow reader. Any thread.
  void stop() {
    stop_ = true;
    observer_->stop();
  }

  // After the call: fills in the outcome, and returns what else the callbacks have shown; a later one changes neither.
  RunFacts complete(CallOutcome& outcome) const;
  // The run was left without its last callback: the library may call back yet.
  bool gave_up() const { return gave_up_; }

 private:
  void end(std::string_view state, Json values, bool failed) noexcept;

  const std::shared_ptr<CallObserver> observer_;
  const std::size_t batch_size_;
  const std::function<void()> abort_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> aborted_{false};
  std::atomic<bool> brought_anything_{false};
  bool lent_rows_ = false;      // in the callback under way
  bool last_callback_ = false;  // the one under way is the run's last: there is nothing left to stop
  bool gave_up_ = false;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable ended_news_;
  std::map<std::string, std::int64_t> sizes_;
  bool ended_ = false;
  bool failed_ = false;
  std::string state_;
  Json values_;
};

}  // namespace rkllm_mcp
