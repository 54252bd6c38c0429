// rkllm-mcp serve and rkllm-mcp stdio: builds every object, connects them, runs until told to stop.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// `request` is what `settings` were loaded from, to read them again when asked to (SIGHUP). Returns the exit code.
int run_serve(const ServeOptions& options, const SettingsRequest& request, LoadedSettings settings);

}  // namespace rkllm_mcp
