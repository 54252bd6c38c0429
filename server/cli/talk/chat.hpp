// rkllm-mcp chat and rkllm-mcp ask: people talk to a model of the running server.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Return the exit code. Throw SettingsRefused, and what ServerLink throws when there is no server to talk to.
int run_chat(const ChatOptions& options, const SettingsRequest& request);
int run_ask(const AskOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
