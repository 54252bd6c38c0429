// The running server that a command is for: what --to names, or what the settings say of the server of this machine.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "settings/load.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// How long a command tries to connect to a server that perhaps does not run.
inline constexpr std::chrono::seconds kToConnect{2};

// `to` as a person writes it: a URL, or HOST:PORT or PORT alone, which is the transport that the settings have on that
// port, else `usual`. Without a port it is that of a server with built-in settings, of https and wss 443. `http_path`
// is as for client::parse_endpoint. Throws std::invalid_argument.
client::Endpoint target_of(std::string_view to, const Settings& settings, client::Protocol usual,
                           std::string_view http_path = "/jsonrpc");

// The certificates that the server of these settings is verified with: those that --cacert names, else the server's
// own. Empty: the system's.
std::string trusted_file(const std::string& named, const Settings& settings);

// Where the HTTP port of the server of these settings is for a client on its machine, verified with its own
// certificate. The path is "/".
client::Endpoint http_place(const Settings& settings);

// Where a server of these settings would listen, for commands that use one if it runs: the TCP port, then the services'
// own (services.port): with --only nothing else is open. `http_path`: "/jsonrpc", or "/mcp" for a client of the
// protocol.
std::vector<client::Endpoint> server_places(const Settings& settings, const std::string& http_path);

// `error` came from one of server_places(): returns if nobody listens there. Else a server is there that must not be
// gone round, and an error of the same kind is thrown, with what leaves that place out; of a server that is not
// trusted, or does not let this client in, also with how another one is named.
void require_nobody_at(const client::Endpoint& place, const client::ConnectionError& error);

// What a proposed command has to end with to reach the server at `place`: " --to URL", and " --cacert FILE". Nothing
// where the command finds it by itself: by the settings file that is used if nothing else is said, and `environment`.
std::string where_of(const client::Endpoint& place, const Environment& environment);

// A complaint for a person, with the next step where there is one: whether the server runs at all, or is to be trusted.
// `serve_options`: what starts one that would be reached, see serve_options_for().
std::string words_of(const client::ConnectionError& error, const std::optional<std::string>& serve_options);

// What is said to whoever has presented `token`, empty if none, and is not let in. `why`: in the server's own words, if
// it says so.
std::string words_of_refused_token(const std::string& token, const std::string& why);

}  // namespace rkllm_mcp
