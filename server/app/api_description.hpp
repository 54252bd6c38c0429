// How this server presents the bound API to clients.
#pragma once

#include "api.hpp"
#include "app/runtime_host.hpp"

#include <string>

namespace rkllm_mcp {

// `name` is the instance's own, from the settings.
Api describe_api(const RuntimeHost& runtime, const std::string& name);

}  // namespace rkllm_mcp
