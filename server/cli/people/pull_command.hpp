// rkllm-mcp pull: a model into the folder of models, of this machine or of a server.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code, and throws SettingsRefused, what ServerLink throws, std::invalid_argument (what was asked for)
// and std::runtime_error (what went wrong).
int run_pull(const PullOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
