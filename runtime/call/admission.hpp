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

// Throws error 4007 if the session's client has not that permission.
inline void permit(const Session& session, Permission permission) {
  const bool is_admin = permission == Permission::kAdmin;
  const Principal& principal = *session.principal;
  if (is_admin ? principal.may_admin : principal.may_call) return;
  throw unauthorized("the token of " + principal.name + " has no permission " + (is_admin ? "admin" : "call"));
}

// Throws QueueFull if the session has as many requests in progress as it may have.
inline void admit_one_more(const Session& session, std::size_t most, Counts* counts) {
  if (session.active() < most) return;
  count(counts, Limit::kRequestsPerConnection);
  throw RpcError(ErrorCode::kQueueFull, "too many requests in progress on this connection",
                 Json{{"queued", session.active()}, {"limit", most}});
}

}  // namespace rkllm_mcp
