// What rkllm_init checks, in the vendor's order, before there is a handle.
#pragma once

#include "board/library_log.hpp"
#include "engine/client.hpp"
#include "engine/instance.hpp"

namespace rkllm_mcp::sim {

// Loads the model. Throws std::runtime_error, saying what was refused and why, where rkllm_init returns -1. Faults that
// the model file puts at init happen here.
//
// The board is made up by the environment: RKLLM_SIM_PLATFORM (default RK3588; none: no NPU device) and
// RKLLM_SIM_DRIVER (default 0.9.8).
Loaded start_up(const Options& options, const Client& client, const Log& log);

}  // namespace rkllm_mcp::sim
