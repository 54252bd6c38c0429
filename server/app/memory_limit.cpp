#include "app/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kLeast = std::size_t{16} << 20U;

std::size_t of_the_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : kUnlimited;
}

// "max" is no number. The topmost group has no such file, unless a container takes its own for that.
std::size_t of_control_group(const std::filesystem::path& folder) {
  std::ifstream file(folder / "memory.max");
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

std::size_t memory_of_control_groups(const std::filesystem::path& root) {
  constexpr std::string_view kUnified = "0::/";  // version 2 of control groups
  std::filesystem::path group = root / "sys/fs/cgroup";
  std::size_t least = of_control_group(group);
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kUnified)) continue;
    for (const auto& name : std::filesystem::path(line.substr(kUnified.size()))) {
      group /= name;
      least = std::min(least, of_control_group(group));
    }
  }
  return least;
}

std::size_t memory_limit(const LimitSettings& limits) {
  if (limits.memory_bytes > 0) return limits.memory_bytes;
  return std::max(kLeast, std::min({of_the_machine(), memory_of_control_groups("/"), of_this_process()}) / 4);
}

}  // namespace rkllm_mcp
