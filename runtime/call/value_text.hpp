// Writes hidden states and logits into what answers a call. That takes a while for many of them, so whoever has many does
// it beside the event loop.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/errors.hpp>

#include <cstddef>

namespace rkllm_mcp {

// Rows of fewer bytes may be written on the loop.
inline constexpr std::size_t kWrittenAtOnceBytes = 64 * 1024;

std::size_t bytes_of_rows(const CallOutcome& outcome);

// Error 4006 for an answer that its values make longer than limits.max_reply_bytes.
RpcError too_long_reply(std::size_t bytes, std::size_t most);

// Moves the outcome's rows into its `values`: {"logits":{"logits":[...],"vocab_size":8192,"num_tokens":2}}. The numbers are
// there as text (jsonrpc/unread.hpp). Any thread.
void write_rows(CallOutcome& outcome, ArrayEncoding encoding);

}  // namespace rkllm_mcp
