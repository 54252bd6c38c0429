// Who something belongs to that is kept for clients, where all of them share a bound: what one of them has too much of
// must not push out what belongs to others.
#pragma once

#include "auth/access_tokens.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp {

// Who an address counts as, whichever port or process speaks: its host; of IPv6 its network, since who has one address
// of that has all; of a Unix socket its user.
std::string source_of(std::string_view address);

// The holder of an access token, wherever it calls from; without tokens, or where none was presented, the source.
std::string owner_of(const Principal* principal, std::string_view address);
// The same by the holder's name; empty: none was presented, or there are none.
std::string owner_of(std::string_view name, std::string_view address);

}  // namespace rkllm_mcp
