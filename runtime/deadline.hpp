// A deadline that moves often. Moving it costs a store; the timer behind it is set again only when it fires too early
// or when the deadline comes nearer.
//
// Threads: belongs to the event loop. After its destruction nothing is called any more.
#pragma once

#include "clock.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class Deadline {
 public:
  // `expired` is called from the loop each time a deadline has passed; the deadline is then unset.
  Deadline(asio::io_context& io, std::function<void()> expired)
      : state_(std::make_shared<State>(io, std::move(expired))) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    state_->expired = nullptr;
    state_->timer.cancel();
  }

  void set_after(Clock::duration from_now) { set_at(Clock::now() + from_now); }
  void set_at(Clock::time_point when);
  void clear() { state_->when = kNever; }

 private:
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  struct State : std::enable_shared_from_this<State> {
    State(asio::io_context& io, std::function<void()> action) : timer(io), expired(std::move(action)) {}
    void arm();
    Timer timer;
    std::function<void()> expired;
    Clock::time_point when = kNever;
    Clock::time_point armed = kNever;  // when the timer will fire
  };

  std::shared_ptr<State> state_;
};

}  // namespace rkllm_mcp
