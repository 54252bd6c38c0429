// rkllm-mcp call: one request to a running server, and its answer on standard output as it comes.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code: 0 for a result, 1 for an error or no answer. Throws SettingsRefused.
int run_call(const CallOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
