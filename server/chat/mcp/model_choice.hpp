// Which model a tool's call means: a name, or none where only one can be meant.
#pragma once

#include "chat/host/chat_host.hpp"
#include "mcp/tools/invocation.hpp"

#include <functional>
#include <memory>
#include <string>

namespace rkllm_mcp::chat {

Asker asker_of(const mcp::Invocation& invocation);
// The address of the client, for logs.
std::string peer_of(const mcp::Invocation& invocation);

// Calls `then` with the model's own name, at once or after a look for files that have come. An empty name means the
// only model there is, or the only one that is loaded. If there is none, that is the invocation's result; if it ends
// meanwhile, nothing is called. `then` may throw TurnError and RpcError. `host` outlives the invocation.
void with_model(ChatHost& host, mcp::Invocation& invocation, const std::string& name,
                const std::function<void(const ModelDescription& model)>& then);

}  // namespace rkllm_mcp::chat
