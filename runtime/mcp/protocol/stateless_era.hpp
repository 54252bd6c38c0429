// Revisions from 2026-07-28: every request says in `_meta` what the server has to know of its client, results carry
// their type, and what the server wants from its client is a result, too, upon which the client asks again.
#pragma once

#include "mcp/protocol/era.hpp"

#include <optional>
#include <string_view>

namespace rkllm_mcp {

const Era& stateless_era();

// The revision that a request claims for itself, whatever that is; nothing if it claims none.
std::optional<Json> claimed_revision(const Json& params);
// Whether it is to be served without a handshake: it claims a revision, and none of those that have one.
bool is_stateless_request(const Json& params);

}  // namespace rkllm_mcp
