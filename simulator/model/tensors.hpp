// The rows of numbers that a simulated model hands out: made up, but always the same, and with the properties that
// programs rely on.
#pragma once

#include "engine/client.hpp"
#include "model/kv_cache.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace rkllm_mcp::sim {

// Owns the rows of the last callback. Not thread-safe: belongs to whoever runs on the handle.
class Tensors {
 public:
  Tensors(std::size_t embedding_size, std::size_t vocab_size)
      : embedding_size_(embedding_size), vocab_size_(vocab_size) {}

  // The hidden states of the last `count` of `cells`. Each row is a running mean over what came before, so texts that
  // share words are closer to each other (by cosine) than texts that share none.
  Rows hidden_states(std::span<const Cell> cells, std::size_t count);

  // The logits of the last `count` of `cells`, in each row highest for what came next: the following cell, and after
  // the last one `sampled`.
  Rows logits(std::span<const Cell> cells, std::size_t count, TokenId sampled);

  // Gives the memory back. (Assigning {} would keep the capacity.)
  void release() { values_ = std::vector<float>(); }

 private:
  std::size_t embedding_size_;
  std::size_t vocab_size_;
  std::vector<float> values_;
  std::vector<float> base_logits_;  // a row in which no token stands out
};

}  // namespace rkllm_mcp::sim
