// What clients may read of the models by name: rkllm://models. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "models/server_models.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::string_view kModelsUri = "rkllm://models";

// `is_simulated`: whether the runtime is the simulator. All outlive the catalogue.
void add_model_resources(mcp::Catalogue& catalogue, const ServerModels& models, std::function<bool()> is_simulated);

}  // namespace rkllm_mcp
