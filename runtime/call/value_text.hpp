// Writes hidden states and logits into the answer of a call. Many of them take a while, and so are written beside the
// event loop.
#pragma once

#include "backend.hpp"
#include "counts.hpp"
#include "memory_budget.hpp"

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

// Rows of fewer bytes may be written on the loop.
inline constexpr std::size_t kWrittenAtOnceBytes = 64 * 1024;
// An estimate of the JSON text that one byte of a float becomes; most take less.
inline constexpr std::size_t kTextPerByte = 3;

std::size_t bytes_of_rows(const CallOutcome& outcome);

// How values are written.
struct ValueWriting {
  ArrayEncoding encoding = ArrayEncoding::kJson;
  std::size_t most_bytes = static_cast<std::size_t>(-1);  // of an answer with values
  MemoryBudget memory{};                                  // that the text counts in
  Counts* counts = nullptr;                               // outlives the writing
};

// Error 4006 for an answer that its values make longer than a reply may be. `bytes`: how long it is, or how
// long it had become when the writing was stopped. Counts it.
RpcError too_long_reply(std::size_t bytes, const ValueWriting& how);

// Moves the outcome's rows into its `values`: {"logits":{"logits":[...],"vocab_size":8192,"num_tokens":2}}. The numbers
// are there as text (jsonrpc/unread.hpp), which the outcome's share then counts. Throws no_memory() if there is no room
// for that text, and error 4006 if it exceeds most_bytes. Any thread.
void write_rows(CallOutcome& outcome, const ValueWriting& how);

// An answer as ready text, and what that takes of the memory.
struct WrittenAnswer {
  std::string text;
  MemoryShare memory{};
};

// The answer that `make` makes of an outcome when its rows have been written. Nothing is left of the outcome. Throws as
// write_rows() does.
template <class Make>
WrittenAnswer write_answer(CallOutcome& outcome, const ValueWriting& how, Make make) {
  const bool has_rows = !outcome.rows.empty();
  write_rows(outcome, how);
  WrittenAnswer answer{{}, MemoryShare(how.memory)};
  // For a moment the values are there twice.
  if (has_rows && !answer.memory.grow(outcome.memory.bytes())) throw no_memory();
  answer.text = make();
  outcome = {};
  if (has_rows && answer.text.size() > how.most_bytes) throw too_long_reply(answer.text.size(), how);
  answer.memory.set(answer.text.size());
  return answer;
}

}  // namespace rkllm_mcp
