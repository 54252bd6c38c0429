#include "board/npu_memory.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace rkllm_mcp::sim {
namespace {

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
