// Turns the input of a run into what fills the KV cache.
#pragma once

#include "engine/instance.hpp"
#include "engine/run_request.hpp"
#include "model/kv_cache.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::sim {

struct EncodedPrompt {
  std::vector<Cell> cells;
  std::string said;              // the caller's own words; empty for ids and embeddings
  std::string rendered;          // what was tokenised
  std::size_t system_cells = 0;  // how many of the first cells are the set system prompt
  bool is_empty = false;         // there was no input at all: the run answers with nothing
};

// `first`: the cache holds nothing that this input continues. Absent if the run must return -1; the reason is logged.
std::optional<EncodedPrompt> encode_input(const Input& input, const Instance& instance, bool first);

}  // namespace rkllm_mcp::sim
