// Hidden states and logits that are too long for the answer of a tool: the answer links to rkllm://values/{id}, where
// its client fetches them in pieces. Event loop only.
#pragma once

#include "call/value_store.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp::mcp {

// Keeps the outcome's rows for `owner`; writes their sizes into its values, and gives a resource_link block for each.
// Throws as ValueStore::keep() does.
Json link_rows(ValueStore& values, CallOutcome& outcome, const std::string& owner);

// The documents that these links lead to. `values` outlives the catalogue.
void add_value_resources(Catalogue& catalogue, ValueStore& values);

}  // namespace rkllm_mcp::mcp
