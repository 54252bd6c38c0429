#include "app/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLeast = std::size_t{16} << 20U;

std::size_t of_the_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kUnlimited;
}

// As a container sees it; "max" is no number.
std::size_t of_the_control_group() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  std::size_t bytes = 0;
  return file >> bytes ? bytes : kUnlimited;
}

// What `ulimit -v` leaves to grow into.
std::size_t of_this_process() {
  rlimit limit{};
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || !(file >> pages)) return kUnlimited;
  const std::size_t used = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

}  // namespace

std::size_t memory_limit(const LimitSettings& limits) {
  if (limits.memory_bytes > 0) return limits.memory_bytes;
  return std::max(kLeast, std::min({of_the_machine(), of_the_control_group(), of_this_process()}) / 4);
}

}  // namespace rkllm_mcp
