// rkllm-mcp memory: looks at the conversations of the memory server, and moves them. Through a server that runs, or else
// on the file itself.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code.
int run_memory(const MemoryCommandOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
