// Who owns what the server keeps for clients.
//
// What is kept for clients is bounded for all together. When a bound is reached, those who have most give way: so each
// kept thing has an owner.
//
// Threads: pure functions, any thread.
#pragma once

#include "text/ip_address.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp {

struct Principal;  // auth/access_tokens.hpp

// The owner: the token's holder if one was presented, wherever it calls from; else source_of(address).
std::string owner_of(const Principal* principal, std::string_view address);
// The owner by the holder's name; empty: no token was presented, or there are none.
std::string owner_of(std::string_view name, std::string_view address);

}  // namespace rkllm_mcp
