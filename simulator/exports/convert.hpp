// The C structs of an ABI set as the engine's plain values, and the engine's results as its C structs.
//
// One source for every set: it is compiled once for each, with the rkllm.h of that set, and asks the structs themselves
// which fields they have.
#pragma once

#include "engine/checked_instance.hpp"
#include "engine/client.hpp"
#include "engine/instance.hpp"
#include "engine/run_request.hpp"

#include <rkllm.h>

#include <span>
#include <vector>

namespace rkllm_mcp::sim {

Options options_from(const RKLLMParam& param);

// Copies everything the structs point at, so that the caller may overwrite it at once. `input` has n_batch entries.
RunRequest request_from(const RKLLMInput* input, const RKLLMInferParam& params, void* userdata,
                        const CheckedInstance& instance);

// The result callback of a program: the engine's results as the C structs of this set, and what it answers. Used on the
// thread of the run.
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
