// The lists that clients ask for: those of a catalogue, page by page, and the values that complete an argument. Event
// loop only.
#pragma once

#include "call/session.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <string_view>

namespace rkllm_mcp::mcp {

// One page of a list, bounded in entries and in bytes, so that lists fit the smallest transport.
struct PageLimits {
  std::size_t items;
  std::size_t bytes;  // of the page's JSON text, roughly
};

// {"<name>":[...],"nextCursor"?} from the list of `count` entries that `entry` makes, perhaps as unread parts. The
// cursor in `params` is opaque to clients; one that was never given out is refused (InvalidParams). A page holds at
// least one entry.
Json page_of(std::string_view name, const Json& params, std::size_t count,
             const std::function<Json(std::size_t)>& entry, const PageLimits& limits);

// Each takes the request's params (for the cursor), and has what the session's client may use. Throw InvalidParams.
Json list_tools(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);
Json list_resources(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);
Json list_resource_templates(const Catalogue& catalogue, const Session& session, const Json& params,
                             const PageLimits& limits);
Json list_prompts(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits);

// The request's params -> {"completion":{"values","total","hasMore"}}: those that begin with what has been typed, at
// most 100. For what is not known there are none, nor for what the session's client may not use. Throws InvalidParams.
Json complete(const Catalogue& catalogue, const Session& session, const Json& params);

}  // namespace rkllm_mcp::mcp
