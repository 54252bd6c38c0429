// rkllm-mcp settings: show, path, schema, check, write.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Prints to standard output and returns the exit code. Throws SettingsRefused.
int run_settings(const SettingsOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
