// Ends the program in steps: each begins when the one before it is done, or has had its time.
//
// Threads: event loop only.
#pragma once

#include "clock.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class Shutdown {
 public:
  struct Step {
    static constexpr Clock::duration kUntilDone = Clock::duration::max();

    std::function<void()> begin{};      // null: there is nothing to begin, only to wait for
    std::function<bool()> is_done{};    // asked every few milliseconds; null: it is done when it has begun
    Clock::duration most = kUntilDone;  // after this time the next step begins all the same
  };

  Shutdown(asio::io_context& loop, std::vector<Step> steps) : steps_(std::move(steps)), next_look_(loop) {}

  // Begins the first step, and returns as soon as there is something to wait for. Idempotent.
  void begin();
  bool has_begun() const { return has_begun_; }
  // A step has thrown, for want of memory, say: none will follow.
  bool has_failed() const { return has_failed_; }

 private:
  void take_step(const std::function<void()>& action);
  void begin_step();
  void look_again();  // in a moment
  void look();
  bool is_done() const;  // whether the current step is done, or its time is over

  const std::vector<Step> steps_;
  std::size_t current_ = 0;
  Clock::time_point deadline_{};
  bool has_begun_ = false;
  bool has_failed_ = false;
  Timer next_look_;
};

}  // namespace rkllm_mcp
