#include "board/npu_clock.hpp"

#include <algorithm>
#include <atomic>

namespace rkllm_mcp::sim {
namespace {

// Process-wide, as the hardware is.
std::atomic<NpuClock::Clock::time_point> free_from{NpuClock::Clock::time_point::min()};

}  // namespace

NpuClock::Clock::time_point NpuClock::book(Clock::time_point earliest, double seconds) {
  const auto duration = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Clock::time_point free = free_from.load();
  Clock::time_point end{};
  do {
    end = std::max(earliest, free) + duration;
  } while (!free_from.compare_exchange_weak(free, end));
  return end;
}

void NpuClock::give_back(Clock::time_point end) {
  const auto now = Clock::now();
  if (now < end) free_from.compare_exchange_strong(end, now);
}

}  // namespace rkllm_mcp::sim
