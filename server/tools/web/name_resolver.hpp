// From host names to addresses.
#pragma once

#include "text/ip_address.hpp"

#include <functional>
#include <string>
#include <vector>

namespace rkllm_mcp {

// All addresses of a host, in the order in which they are to be tried. Blocks. Throws ToolFailure.
using ResolveFunction = std::function<std::vector<IpAddress>(const std::string& host)>;

// By the system.
std::vector<IpAddress> resolve_by_system(const std::string& host);

}  // namespace rkllm_mcp
