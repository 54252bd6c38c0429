// How long a queue of calls may become, and how much of it one access token may have.
//
// Threads: any.
#pragma once

#include "counts.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace rkllm_mcp {

struct QueueLength {
  std::size_t all{};
  std::size_t of_holder{};  // of the access token that asks: 0 if none does. A limit is more than 0
};

// Why a queue that is as long as `waiting` has no place for one more, which is counted; nothing: it has one. `whose`:
// "handle llm-1".
inline std::optional<RpcError> why_full(const std::string& whose, QueueLength waiting, QueueLength most,
                                        Counts* counts) {
  const bool is_full = waiting.all >= most.all;
  if (!is_full && waiting.of_holder < most.of_holder) return std::nullopt;
  count(counts, Limit::kQueueLength);
  if (is_full) {
    return RpcError(ErrorCode::kQueueFull, "the queue of " + whose + " is full",
                    Json{{"queued", waiting.all}, {"limit", most.all}});
  }
  return RpcError(ErrorCode::kQueueFull,
                  "this access token has as many places in the queue of " + whose + " as queue.max_per_token allows",
                  Json{{"queued", waiting.of_holder}, {"limit", most.of_holder}});
}

}  // namespace rkllm_mcp
