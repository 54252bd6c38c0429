// rkllm-mcp rm: models out of the folder of models.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code, and throws SettingsRefused, what ServerLink throws, and std::runtime_error (what went wrong).
int run_remove(const RemoveOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
