// The result callback of a program: the engine's results as the C structs of this set, and what it answers.
#pragma once

#include "engine/client.hpp"

#include <rkllm.h>

#include <span>
#include <vector>

namespace rkllm_mcp::sim {

// Used on the thread of the run.
class ResultCallback {
 public:
  // `function` may be null: then nobody listens.
  explicit ResultCallback(LLMResultCallback function) : function_(function) {}

  // Hands over one result for each entry of the batch, or NULL if there are none. Returns what the callback returned;
  // 0, to go on, where it returns nothing.
  int call(std::span<const Output> outputs, State state, void* userdata);

 private:
  const LLMResultCallback function_;
  std::vector<RKLLMResult> results_;
};

}  // namespace rkllm_mcp::sim
