// What a server speaks that does not answer as it should: most often a URL has the s of TLS too much or too little.
// Threads: any; blocks for at most two seconds.
#pragma once

#include "client/endpoint.hpp"

#include <string>

namespace rkllm_mcp::client {

// "; that port speaks TLS: use https://board:8443/mcp", for the end of a complaint: asks the server of `endpoint`, on
// connections of its own, what it does speak. Empty if it speaks what the endpoint says, or nothing that is known, or
// is not there.
std::string hint_at_protocol(const Endpoint& endpoint);

}  // namespace rkllm_mcp::client
