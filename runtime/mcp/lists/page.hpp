// One page of a list, bounded in entries and in bytes, so that lists fit the smallest transport.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <string_view>

namespace rkllm_mcp::mcp {

struct PageLimits {
  std::size_t items;
  std::size_t bytes;  // of the page's JSON text, roughly
};

// {"<name>":[...],"nextCursor"?} from the list of `count` entries that `entry` makes, perhaps as unread parts. The
// cursor in `params` is opaque to clients; one that was never given out is refused (InvalidParams). A page holds at
// least one entry.
Json page_of(std::string_view name, const Json& params, std::size_t count,
             const std::function<Json(std::size_t)>& entry, const PageLimits& limits);

}  // namespace rkllm_mcp::mcp
