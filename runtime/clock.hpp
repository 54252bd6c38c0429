// The time that all of this program goes by: when something expires, and how long something has taken. Timers and
// readings of the clock go by this one, so that a simulation can set it (tests/simulation).
#pragma once

#include <asio/steady_timer.hpp>

#include <chrono>

namespace rkllm_mcp {

#ifdef RKLLM_MCP_SIMULATION

// Stands still until the simulation moves it on. Belongs to the one thread that there is then.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept { return time_point(passed); }
  static inline duration passed{};
};

// The loop must look at the clock each time that it is polled, however far away a timer's time is.
struct TimerTraits {
  static Clock::duration to_wait_duration(const Clock::duration&) { return Clock::duration::zero(); }
  static Clock::duration to_wait_duration(const Clock::time_point&) { return Clock::duration::zero(); }
};
using Timer = asio::basic_waitable_timer<Clock, TimerTraits>;

inline std::chrono::system_clock::time_point time_of_day() {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(Clock::passed));
}

#else

using Clock = std::chrono::steady_clock;
using Timer = asio::steady_timer;

// What people and other programs are told of when something was; nothing is measured by it.
inline std::chrono::system_clock::time_point time_of_day() { return std::chrono::system_clock::now(); }

#endif

}  // namespace rkllm_mcp
