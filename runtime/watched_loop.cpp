#include "watched_loop.hpp"

#include <ctime>

namespace rkllm_mcp {
namespace {

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void run_watched(asio::io_context& loop, const SlowFunction& slow) {
  auto before = processor_time();
  while (loop.run_one() > 0) {
    const auto now = processor_time();
    const auto taken = now - before;
    before = now;
    if (taken <= kLongestCallback) continue;
    slow(std::chrono::duration_cast<std::chrono::milliseconds>(taken));
    before = processor_time();
  }
}

}  // namespace rkllm_mcp
