// Whether the presets of the settings (`models`) have fields that the runtime takes.
#pragma once

#include "settings/refused.hpp"

#include <rkllm_mcp/json.hpp>

#include <vector>

namespace rkllm_mcp {

// Those that no version of the API has, by their path in the settings: "models.big.param.top_kk".
std::vector<Complaint> unknown_preset_fields(const Json& models);

}  // namespace rkllm_mcp
