// What the revisions of one era have in common, and the other era has differently: how a client says who it is, the
// shape of results, and how a server asks its client for something.
//
// Event loop only.
#pragma once

#include "mcp/protocol/client_context.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace rkllm_mcp {

class Session;

}  // namespace rkllm_mcp

namespace rkllm_mcp::mcp {

class Invocation;

// How long a client may go on using a result without asking again, and whether it may show it to its other users.
struct Freshness {
  std::chrono::milliseconds lasts{0};
  enum class Scope { kPrivate, kPublic } scope = Scope::kPrivate;
};

class Era {
 public:
  virtual ~Era() = default;

  // True: `initialize` describes the client once for the session, and notifications/cancelled cancels a request. False:
  // each request describes its client and the log level that it wants, and is cancelled when its HTTP exchange closes.
  virtual bool has_handshake() const = 0;
  // Who asks. Throws RpcError if the request does not say what it has to.
  virtual ClientContext client_of(const Revision& revision, const Json& params, const Session& session) const = 0;
  // `body` as a complete result. `server` is {"name","version"}.
  virtual Json result(Json body, const std::optional<Freshness>& freshness, const Json& server) const = 0;
  // Gets the invocation's tool called again with what the client says to `requests`.
  virtual void ask(Invocation& invocation, InputRequests requests, Json state) const = 0;
};

// Revisions up to 2025-11-25: the server asks by requests of its own.
const Era& handshake_era();
// Revisions from 2026-07-28: every request has in `_meta` what the server has to know of its client, results carry
// their type, and what the server wants from its client is a result, too, upon which the client asks again.
const Era& stateless_era();

// The revision that a request claims for itself, whatever that is; nothing if it claims none.
std::optional<Json> claimed_revision(const Json& params);
// Whether it is to be served without a handshake: it claims a revision, and none of those that have one.
bool is_stateless_request(const Json& params);

}  // namespace rkllm_mcp::mcp
