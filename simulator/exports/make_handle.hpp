// rkllm_init but for its callbacks, whose type differs from set to set.
#pragma once

#include "engine/client.hpp"

#include <rkllm.h>

#include <memory>

namespace rkllm_mcp::sim {

// What rkllm_init returns. `client` speaks to the callbacks of the handle.
int make_handle(LLMHandle* handle, const RKLLMParam* param, std::unique_ptr<Client> client);

}  // namespace rkllm_mcp::sim
