// The C structs of an ABI set as the engine's plain values.
//
// One source for every set: it is compiled once for each, with the rkllm.h of that set, and asks the structs themselves
// which fields they have.
#pragma once

#include "engine/checked_instance.hpp"
#include "engine/instance.hpp"
#include "engine/run_request.hpp"

#include <rkllm.h>

namespace rkllm_mcp::sim {

Options options_from(const RKLLMParam& param);

// Copies everything the structs point at, so that the caller may overwrite it at once. `input` has n_batch entries.
RunRequest request_from(const RKLLMInput* input, const RKLLMInferParam& params, void* userdata,
                        const CheckedInstance& instance);

}  // namespace rkllm_mcp::sim
