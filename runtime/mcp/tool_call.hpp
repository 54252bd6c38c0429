// tools/call: one complete answer, with progress meanwhile if the client asked for it. Event loop only.
#pragma once

#include "call/caller.hpp"
#include "call/session.hpp"
#include "jsonrpc/reply.hpp"

#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <asio/io_context.hpp>

#include <memory>

namespace rkllm_mcp {

struct ToolCall {
  const Method& method;
  Json arguments;
  Json progress_token;  // null: no progress
};

// The result of a tool call that failed: the message for people and models, then code and data for programs.
Json tool_error(const RpcError& error);

// Bad arguments and refusals become results with "isError":true; only an id that is in use fails the request itself.
void start_tool_call(asio::io_context& loop, Caller& caller, ToolCall call, const std::shared_ptr<Session>& session,
                     const std::shared_ptr<Reply>& reply);

}  // namespace rkllm_mcp
