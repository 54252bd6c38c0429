// The JSON value of the simulator's files and prompts; members keep their order.
#pragma once

#include <nlohmann/json.hpp>

namespace rkllm_mcp::sim {

using Json = nlohmann::ordered_json;

}  // namespace rkllm_mcp::sim
