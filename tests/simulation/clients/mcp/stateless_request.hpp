// A request of MCP without a handshake, over HTTP: it says by itself who asks.
#pragma once

#include "mcp/protocol/agreed_names.hpp"
#include "simulation/clients/http_talk.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <utility>

namespace rkllm_mcp::simulation {

inline void ask_without_session(HttpTalk& talk, int id, const std::string& method, Json params, Json capabilities,
                                HttpTalk::Hearer hearer) {
  constexpr const char* kRevision = "2026-07-28";
  HttpTalk::Fields fields{{"Content-Type", "application/json"},
                          {"Accept", "application/json, text/event-stream"},
                          {"MCP-Protocol-Version", kRevision},
                          {mcp::kMethodHeader, method}};
  const char* const named = mcp::named_param(method);
  if (named != nullptr) fields[mcp::kNameHeader] = params.at(named);
  params["_meta"][mcp::kMetaRevision] = kRevision;
  params["_meta"][mcp::kMetaCapabilities] = std::move(capabilities);
  const Json body{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}};
  talk.ask("POST", "/mcp", fields, body.dump(), std::move(hearer));
}

// What a client can do for a tool that asks.
inline Json answering_capabilities() {
  return {{"roots", Json::object()}, {"sampling", Json::object()}, {"elicitation", Json::object()}};
}

}  // namespace rkllm_mcp::simulation
