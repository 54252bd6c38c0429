// What a server and its workers hold of the system, as /proc tells it: whatever was done to it, it is to give that
// back.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <set>

namespace rkllm_mcp::test {

struct Holdings {
  std::set<pid_t> processes{};
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::size_t resident_kb = 0;

  // No other processes, and no more descriptors and threads. Memory is another matter: allocators keep some.
  bool within(const Holdings& before) const {
    return std::ranges::includes(before.processes, processes) && descriptors <= before.descriptors &&
           threads <= before.threads;
  }
};

// Of a process and all below it.
Holdings holdings_of(pid_t process);

}  // namespace rkllm_mcp::test
