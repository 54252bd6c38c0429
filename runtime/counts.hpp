// What the runtime library counts while it serves: how often clients came up against each limit, and what became of
// tokens and datagrams that could not leave at once. Whoever shows metrics owns one; without one nobody counts.
//
// Threads: any.
#pragma once

#include "limit.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rkllm_mcp {

struct Counts {
  std::array<std::atomic<std::uint64_t>, kLimitCount> reached{};  // by Limit
  std::atomic<std::uint64_t> joined_tokens{0};                    // that travelled in the chunk of another one
  std::atomic<std::uint64_t> faults{0};                           // that callbacks of the event loop have let through
  std::atomic<std::uint64_t> dropped_datagrams{0};                // that UDP had no room for, or no right to send
};

inline void count(Counts* counts, Limit limit) {
  if (counts != nullptr) counts->reached.at(static_cast<std::size_t>(limit)).fetch_add(1, std::memory_order_relaxed);
}

inline void count(Counts* counts, std::atomic<std::uint64_t> Counts::*what, std::uint64_t times = 1) {
  if (counts != nullptr) (counts->*what).fetch_add(times, std::memory_order_relaxed);
}

}  // namespace rkllm_mcp
