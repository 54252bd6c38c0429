// How much memory requests, answers and streams may take together.
#pragma once

#include "settings/settings.hpp"

#include <cstddef>
#include <filesystem>

namespace rkllm_mcp {

// What limits.memory_bytes says; if that is 0, a quarter of the machine's memory, or of what a control group or a limit
// of this process leaves of it.
std::size_t memory_limit(const LimitSettings& limits);

// The least that the control groups of this process allow: its own, as systemd's MemoryMax= has it, and those above.
// The greatest number if they do not limit it. `root` is / but in tests.
//
// Sources: <root>/proc/self/cgroup ("0::/system.slice/rkllm-mcp.service"), <root>/sys/fs/cgroup/GROUP/memory.max.
std::size_t memory_of_control_groups(const std::filesystem::path& root);

}  // namespace rkllm_mcp
