// How a client finds out what it speaks with: `server/discover` in the modern era (MCP 2026-07-28, no handshake),
// `initialize` in the legacy one (2024-11-05 to 2025-11-25).
#pragma once

#include "client/mcp/numbered_requests.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <string>

namespace rkllm_mcp::client {

enum class EraChoice {
  kAuto,  // asks for the modern era first, and falls back
  kLegacy,
  kModern,
};

struct ServerFacts {
  bool has_handshake;          // the legacy era
  std::string revision;        // that both speak
  Json info = Json::object();  // name, version, title, ...
  Json capabilities = Json::object();
  std::string instructions{};  // empty: none
};

struct Introduction {
  EraChoice era = EraChoice::kAuto;
  Json client_info;                    // {name, version}
  Json capabilities = Json::object();  // that a server with a handshake is told of
  std::chrono::milliseconds patience{30'000};
  std::chrono::milliseconds probe_patience{3'000};  // silence that long means: a legacy server
};

// Blocks. Throws ConnectionError when there is no answer or no common revision, RemoteRefusal when the server refuses.
ServerFacts shake_hands(NumberedRequests& requests, const Introduction& introduction);

// The parameters with what every modern request carries in its _meta; capabilities that are there stay.
Json with_modern_meta(Json params, const Json& client_info);

}  // namespace rkllm_mcp::client
