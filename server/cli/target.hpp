// The running server that a command is for: what --to names, or what the settings say of the server of this machine.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "settings/settings.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp {

// `to` as a person writes it: a URL, or HOST:PORT alone, which is the transport that the settings have on that port,
// else `usual`. `http_path` is as for client::parse_endpoint. Throws std::invalid_argument.
client::Endpoint target_of(std::string_view to, const Settings& settings, client::Protocol usual,
                           std::string_view http_path = "/jsonrpc");

// The certificates that the server of these settings is verified with: those that --cacert names, else the server's
// own. Empty: the system's.
std::string trusted_file(const std::string& named, const Settings& settings);

// A complaint for a person, with the next step where there is one: whether the server runs at all, or is to be trusted.
std::string words_of(const client::ConnectionError& error);

}  // namespace rkllm_mcp
