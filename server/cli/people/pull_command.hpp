// rkllm-mcp pull, rm: models into the folder of models, and out of it.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Each returns the exit code, and throws SettingsRefused, std::invalid_argument (what was asked for) and
// std::runtime_error (what went wrong).
int run_pull(const PullOptions& options, const SettingsRequest& request);
int run_remove(const RemoveOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
