// The heap of a simulation: counts what has been allocated and not given back, by everything that is new'd. It also
// gives small pieces again as they come back, which takes less time than the system's heap does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rkllm_mcp::simulation {

// Bytes, as they were asked for, rounded up to sixteen; 0 in builds with a sanitizer, which watch the heap themselves.
std::size_t allocated_bytes();

// After kFirstSchedules schedules, all that follow leave no more than kMayStay bytes: notes of what has been seen, and
// the like.
inline constexpr std::uint64_t kFirstSchedules = 100;
inline constexpr std::size_t kMayStay = std::size_t{256} << 10U;

}  // namespace rkllm_mcp::simulation
