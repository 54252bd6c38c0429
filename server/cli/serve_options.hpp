// How to start the server that a command looks for: said to a person when no server answers.
#pragma once

#include "client/endpoint.hpp"
#include "settings/load.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Whether that is an address of the loopback network, or a Unix socket.
bool is_on_this_machine(const client::Endpoint& place);

// What was said of the settings on the command line, for another command: " --settings FILE --set http.port=9000".
// Without secrets, and without what `command`, to which it is to be added, says itself.
std::string as_options(const SettingsRequest& request, std::string_view command = {});

// The options with which `rkllm-mcp serve` starts a server that is reached at `to` (see target_of()): as_options(), and
// the port, if the settings have another one. Nothing if `to` is another machine, or if the server would need a
// certificate that the settings do not name.
std::optional<std::string> serve_options_for(std::string_view to, client::Protocol usual,
                                             const SettingsRequest& request);

}  // namespace rkllm_mcp
