// Finds out what a server speaks that does not answer as expected: most often a URL lacks the s of TLS, or has one too
// many. Threads: any; blocks for two seconds at most, and for as long as it takes to resolve the host's name twice.
#pragma once

#include "client/endpoint.hpp"

#include <optional>
#include <string>

namespace rkllm_mcp::client {

// Asks the server of `endpoint`, on connections of its own, which protocol it speaks, and returns `endpoint` with that
// one. Nothing if that is the endpoint's own, if it is not recognised, or if nobody answers.
std::optional<Endpoint> spoken_instead(const Endpoint& endpoint);

// "; that port speaks TLS: use https://board:8443/mcp", for the end of a complaint about `endpoint`, where `spoken` is
// spoken.
std::string hint_at_protocol(const Endpoint& endpoint, const Endpoint& spoken);
// hint_at_protocol() with what spoken_instead() finds out by asking the server; empty if that is nothing.
std::string hint_at_protocol(const Endpoint& endpoint);

}  // namespace rkllm_mcp::client
