// How this server presents the bound API, and itself, to clients.
#pragma once

#include "api.hpp"
#include "app/runtime_host.hpp"
#include "mcp/catalogue.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>

namespace rkllm_mcp {

// The functions of the runtime that is in use.
Api describe_api(const RuntimeHost& runtime);

// All but the tools: resources, prompts, and words. `report` gives the settings in force, secrets hidden. All outlive
// the catalogue.
mcp::Catalogue describe_server(const RuntimeHost& runtime, const Settings& settings, std::function<Json()> report);

}  // namespace rkllm_mcp
