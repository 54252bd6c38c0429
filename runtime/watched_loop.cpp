#include "watched_loop.hpp"

#include <ctime>

namespace rkllm_mcp {
namespace {

using RealClock = std::chrono::steady_clock;  // what the processor did is measured beside it

// A callback's processor time is counted from the last reading, which is no older than this when the loop begins to
// wait for the callback. While it waits, nothing is used.
constexpr std::chrono::milliseconds kBetweenReadings{5};

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void run_watched(asio::io_context& loop, const SlowFunction& slow) {
  auto begun = RealClock::now();
  auto read_at = begun;
  auto used = processor_time();
  while (loop.run_one() > 0) {
    auto ended = RealClock::now();
    if (ended - begun > kLongestCallback) {  // or it has waited that long for something to do
      // What may have been used between the reading and the beginning of the wait is not the callback's.
      const auto taken = processor_time() - used - (begun - read_at);
      if (taken > kLongestCallback) slow(std::chrono::duration_cast<std::chrono::milliseconds>(taken));
      ended = RealClock::now();  // without what `slow` took
    }
    begun = ended;
    if (begun - read_at < kBetweenReadings) continue;
    read_at = begun;
    used = processor_time();
  }
}

}  // namespace rkllm_mcp
