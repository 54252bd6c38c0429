// rkllm-mcp status, ps, models, load, unload: what the running server does, and what it is to hold.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code. Throws SettingsRefused, and what ServerLink throws.
int run_state(const StateOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
