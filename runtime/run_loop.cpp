#include "run_loop.hpp"

#include <asio/post.hpp>

#include <ctime>
#include <utility>

namespace rkllm_mcp {

void run_loop(asio::io_context& loop, const FaultReport& report, const SlowFunction& slow) {
  for (bool is_done = false; !is_done;) {
    try {
      slow ? run_watched(loop, slow) : static_cast<void>(loop.run());
      is_done = true;
    } catch (...) {
      report(std::current_exception());
    }
  }
}

void pass_on(asio::io_context& loop, std::exception_ptr fault) {
  asio::post(loop, [fault = std::move(fault)] { std::rethrow_exception(fault); });
}

std::string text_of_fault(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception of an unknown kind";
  }
}

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
    if (ended - begun > kLongestCallback) {  // a long callback, or a long wait for one
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
