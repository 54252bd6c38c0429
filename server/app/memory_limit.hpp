// How much memory requests, answers and streams may take together.
#pragma once

#include "settings/settings.hpp"

#include <cstddef>

namespace rkllm_mcp {

// What limits.memory_bytes says; if that is 0, a quarter of the machine's memory, or of what a control group or a limit
// of this process leaves of it.
std::size_t memory_limit(const LimitSettings& limits);

}  // namespace rkllm_mcp
