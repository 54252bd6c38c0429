// resources/read. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "mcp/era.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp {

struct ResourceReading {
  Json body;  // {"contents":[...]}
  Freshness freshness;
};

// Throws InvalidParams with {"uri"} in its data if there is no such resource.
ResourceReading read_resource(const Catalogue& catalogue, const std::string& uri);

}  // namespace rkllm_mcp
