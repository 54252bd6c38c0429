// Who owns what is kept for clients. All clients share a bound; when it is reached, those who have most give way, and
// for that it must be known who owns what.
#pragma once

#include "auth/access_tokens.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp {

// What stands for a client machine in such bounds, whatever its port: the host of its address; with IPv6 the network,
// since a client has all addresses of its network; with a Unix socket the user.
std::string source_of(std::string_view address);

// The holder of an access token, wherever it calls from; without tokens, or where none was presented, the source.
std::string owner_of(const Principal* principal, std::string_view address);
// The owner by the holder's name; empty: no token was presented, or there are none.
std::string owner_of(std::string_view name, std::string_view address);

}  // namespace rkllm_mcp
