// The methods of an API as tools: one complete answer each, with progress meanwhile if the client asked for it. Event
// loop only.
#pragma once

#include "call/caller.hpp"
#include "call/value_store.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <string>

namespace rkllm_mcp::mcp {

// Adds to the schema of a method's result what the server tells besides: "warnings", the errors that the runtime logged
// although it succeeded; "simulated", true if no model runs.
void add_own_members(Json& schema, const Method& method);

// Adds a tool for each method of the caller's API, under its name. Those that do what another tool does are not listed,
// but can be called. So can the names of functions, constants and types that only other versions have: they say so.
// Loop and caller outlive the catalogue.
void add_method_tools(Catalogue& catalogue, asio::io_context& loop, Caller& caller);

// Hidden states and logits that are too long for the answer of a tool: the answer links to rkllm://values/{id}, where
// its client fetches them in pieces. Event loop only.
//
// Keeps the outcome's rows for `owner`; writes their sizes into its values, and gives a resource_link block for each.
// Throws as ValueStore::keep() does.
Json link_rows(ValueStore& values, CallOutcome& outcome, const std::string& owner);

// The documents that these links lead to. `values` outlives the catalogue.
void add_value_resources(Catalogue& catalogue, ValueStore& values);

}  // namespace rkllm_mcp::mcp
