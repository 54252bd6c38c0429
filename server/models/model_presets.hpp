// Models by the names that the settings give them (`models`): rkllm_init {"model":"big"} is made with the preset's
// parameters (see NamedBackend).
#pragma once

#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <span>

namespace rkllm_mcp {

// The parameters with the member `model` replaced by what the preset of that name has; fields that the call itself has
// in `param` go first, at every depth. `models` as in the settings. Throws InvalidParams if there is no such preset.
Json with_preset(const Json& models, Json params);

// Lets the tools that create handles take `model`, if there are presets.
void offer_presets(mcp::Catalogue& catalogue, std::span<const Method> methods, const Json& models);

}  // namespace rkllm_mcp
