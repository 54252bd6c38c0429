// `rkllm-mcp load` and `rkllm-mcp unload`.
#pragma once

#include "cli/command_line.hpp"
#include "cli/people/server_link.hpp"

namespace rkllm_mcp {

// These return the exit code, and throw as ServerLink does.
int load_model(ServerLink& server, const StateOptions& options);
int unload_models(ServerLink& server, const StateOptions& options);

}  // namespace rkllm_mcp
