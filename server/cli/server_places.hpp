// Where a server of these settings would listen, for commands that use one if it runs.
#pragma once

#include "client/endpoint.hpp"
#include "settings/settings.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

// The TCP port, then the services' own (services.port, 8001): with --only nothing else is open. `http_path`:
// "/jsonrpc", or "/mcp" for a client of the protocol.
std::vector<client::Endpoint> server_places(const Settings& settings, const std::string& http_path);

}  // namespace rkllm_mcp
