// Who may begin one more request: the permission that it takes, and room for it.
#pragma once

#include "auth/access_tokens.hpp"
#include "call/session.hpp"
#include "counts.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <string>

namespace rkllm_mcp {

enum class Permission { kCall, kAdmin };

// Whether the session's client has that permission.
inline bool is_permitted(const Session& session, Permission permission) {
  if (session.principal == nullptr) return false;
  return permission == Permission::kAdmin ? session.principal->may_admin : session.principal->may_call;
}

// Throws error 4007 if it has not.
inline void permit(const Session& session, Permission permission) {
  if (is_permitted(session, permission)) return;
  if (session.principal == nullptr) throw unauthorized("nobody knows who asks");
  throw unauthorized("the access token of " + session.principal->name + " has no permission " +
                     (permission == Permission::kAdmin ? "admin" : "call"));
}

// Throws RpcError kQueueFull if the session's client has as many requests in progress as it may have. Clients that
// share a session because they have none of their own are told apart by their addresses.
inline void check_quota(const Session& session, const Peer& client, std::size_t most, Counts* counts) {
  const std::size_t active = session.active_of(client);
  if (active < most) return;
  count(counts, Limit::kRequestsPerConnection);
  throw RpcError(ErrorCode::kQueueFull,
                 std::string("too many requests in progress ") +
                     (session.shared() ? "from this address without a session" : "on this connection"),
                 Json{{"queued", active}, {"limit", most}});
}

}  // namespace rkllm_mcp
