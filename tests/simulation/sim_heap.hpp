// The heap of a simulation: counts what has been allocated and not given back, by everything that is new'd. It also
// gives small pieces again as they come back, which makes schedules a seventh faster.
#pragma once

#include <cstddef>

namespace rkllm_mcp::simulation {

// Bytes, as they were asked for, rounded up to sixteen; 0 in builds with a sanitizer, which watch the heap themselves.
std::size_t allocated_bytes();

// More than that does not stay from one schedule to the next, however many there are, once a hundred have been: notes
// of what has been seen, and the like.
inline constexpr std::size_t kMayStay = std::size_t{256} << 10U;

}  // namespace rkllm_mcp::simulation
