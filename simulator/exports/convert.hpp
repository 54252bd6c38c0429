// The C structs of runtime 1.3.0 as the engine's plain values, and its results as theirs. With rkllm_api_1_3_0.cpp the
// only files that know an ABI.
#pragma once

#include "client.hpp"
#include "instance.hpp"
#include "run_request.hpp"
#include "session.hpp"

#include "generator/headers/rkllm_1.3.0.h"

#include <memory>

namespace rkllm_mcp::sim::v1_3_0 {

Options options_from(const RKLLMParam& param);

// Copies everything the structs point at, so that the caller may overwrite it at once. `input` has n_batch entries.
RunRequest request_from(const RKLLMInput* input, const RKLLMInferParam& params, void* userdata, const Session& session);

// Speaks to the callbacks of a handle. `callback` may be null: then nobody listens.
std::unique_ptr<Client> client_for(const RKLLMCallback* callback, int n_batch);

}  // namespace rkllm_mcp::sim::v1_3_0
