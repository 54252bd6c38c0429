// rkllm-mcp tools: lists the tools of a running server and calls them; where none runs, of one that is started for it.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code. Throws what load_settings() throws, client::ConnectionError, client::RemoteRefusal.
int run_tools(const ToolsOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
