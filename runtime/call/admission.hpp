// Who may begin one more request: the permission that it takes, and room for it.
#pragma once

#include "auth/token_set.hpp"
#include "call/session.hpp"
#include "counts.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>

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
  throw unauthorized("the token of " + session.principal->name + " has no permission " +
                     (permission == Permission::kAdmin ? "admin" : "call"));
}

// Throws QueueFull if the session has as many requests in progress as it may have.
inline void admit_one_more(const Session& session, std::size_t most, Counts* counts) {
  if (session.active() < most) return;
  count(counts, Limit::kRequestsPerConnection);
  throw RpcError(ErrorCode::kQueueFull, "too many requests in progress on this connection",
                 Json{{"queued", session.active()}, {"limit", most}});
}

}  // namespace rkllm_mcp
