// The words of the chat set: what a model reads of these tools before it calls one. They are few, since small models
// read all of them; tests/clients/tokens_test.mjs counts them.
#pragma once

#include "mcp/catalogue.hpp"

#include <string_view>

namespace rkllm_mcp::chat {

inline constexpr std::string_view kChatServerName = "chat-server";

// What a model should know of the set.
inline constexpr std::string_view kInstructions =
    "To talk to a model here, call chat; list_models has their names, and a model is loaded when it is first used.";

// list_models, load_model, chat, embed, stop, status or unload_model, without what it does. `remembers`: chat can go on
// with a conversation. Throws std::logic_error if there is no such tool.
mcp::Tool described_tool(std::string_view name, bool remembers);

}  // namespace rkllm_mcp::chat
