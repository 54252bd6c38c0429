#include "board/processors.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

// Process-wide, as the hardware is.
std::atomic<NpuClock::Clock::time_point> free_from{NpuClock::Clock::time_point::min()};

constexpr std::size_t kMegabytesPerDomain = 4096;

// What is taken of each domain. Process-wide, as the hardware is; never destroyed, since handles may outlive main.
struct Ledger {
  std::mutex mutex;  // guards `taken`
  std::map<std::int32_t, std::size_t> taken;
};

Ledger& ledger() {
  static Ledger* const the_ledger = new Ledger;
  return *the_ledger;
}

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

std::optional<NpuMemory> NpuMemory::reserve(std::int32_t domain, std::size_t megabytes) {
  const std::lock_guard lock(ledger().mutex);
  std::size_t& taken = ledger().taken[domain];
  if (megabytes > kMegabytesPerDomain - taken) return std::nullopt;
  taken += megabytes;
  return NpuMemory(domain, megabytes);
}

NpuMemory::NpuMemory(NpuMemory&& other) noexcept
    : domain_(other.domain_), megabytes_(std::exchange(other.megabytes_, 0)) {}

NpuMemory::~NpuMemory() {
  if (megabytes_ == 0) return;
  const std::lock_guard lock(ledger().mutex);
  ledger().taken[domain_] -= megabytes_;
}

}  // namespace rkllm_mcp::sim
