// Resources and prompts as another MCP server lists them, and what it answers of them: under addresses and names that
// are nobody else's here. An address there, file:///notes, is upstream://UPSTREAM/file:///notes here.
#pragma once

#include "mcp/catalogue.hpp"
#include "upstreams/offered.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

std::string served_uri(const std::string& upstream, const std::string& uri);

struct UriThere {
  std::string upstream;
  std::string uri;
};
// Nothing if it is no address of an upstream.
std::optional<UriThere> uri_there(const std::string& served);

// Removes what is malformed or too long, or has passed through more than two other servers by its address: two that
// are each other's upstreams would list each other's entries for ever. Returns how many. Slow: not for the loop.
std::size_t drop_unservable(Offered kind, std::vector<Json>& listed);
// Leaves out prompts that are listed a second time because the other server is its own upstream.
void drop_echoes(const std::string& upstream, std::vector<Json>& prompts);

// Entries of our lists, from what the two functions above have left. Reading is left to Catalogue::fetch.
mcp::Resource served_resource(const std::string& upstream, const Json& listed);
mcp::ResourceTemplate served_template(const std::string& upstream, const Json& listed);
// Named as it is there; what runs it is left to the caller.
mcp::Prompt served_prompt(const std::string& upstream, const Json& listed);

// The listed icons, _meta and whatever else of it passes through as it is.
Json passed_on(const Json& listed);

// Whether it may be passed on as the answer to resources/read, or prompts/get.
bool is_reading(const Json& result);
bool is_prompt(const Json& result);

// A result as our own: addresses are those that can be read here, and what the protocol added for the way is left out.
Json as_served(const std::string& upstream, Json result);

}  // namespace rkllm_mcp
