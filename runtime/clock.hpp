// The clock that all of this program uses, to see when something expires and how long something takes; and the time of
// day. Timers use the same clock, so that a simulation can set it (tests/simulation).
#pragma once

#include <asio/steady_timer.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

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

// The time that people and other programs are told when something has happened. The system may set it back: no duration
// is measured by it. Any thread.
inline std::chrono::system_clock::time_point time_of_day() { return std::chrono::system_clock::now(); }

#endif

// Calls `action` on the loop, once, after `pause`: without a timer as a member somewhere. Nothing stops it before: an
// action whose object may be gone by then has to look. It is dropped if the loop ends first. Event loop only.
template <class Loop, class Action>
void call_after(Loop& loop, Clock::duration pause, Action action) {
  auto timer = std::make_unique<Timer>(loop, pause);
  Timer& waiting = *timer;  // belongs to its own handler, and so lives until that is called
  waiting.async_wait([timer = std::move(timer), action = std::move(action)](const auto& /*error*/) { action(); });
}

inline double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

inline std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(time_of_day().time_since_epoch()).count();
}

// As ISO 8601 in UTC: "2026-11-22T16:20:05.123Z".
inline std::string iso_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string digits = std::to_string(1000 + since_epoch % 1000);  // with leading zeros
  return std::string(text.data(), length) + "." + digits.substr(1) + "Z";
}

}  // namespace rkllm_mcp
