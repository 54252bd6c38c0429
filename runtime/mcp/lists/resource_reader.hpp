// resources/read. Event loop only.
#pragma once

#include "call/session.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/protocol/era.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp::mcp {

struct ResourceReading {
  Json body;  // {"contents":[...]}
  Freshness freshness;
};

// Throws InvalidParams with {"uri"} in its data if there is no such resource, and error 4007 if the session's client
// may not read it.
ResourceReading read_resource(const Catalogue& catalogue, const Session& session, const std::string& uri);

}  // namespace rkllm_mcp::mcp
