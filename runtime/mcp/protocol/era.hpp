// What the revisions of one era have in common, and the other era has differently: how a client says who it is, the
// shape of results, and how a server asks its client for something.
//
// Event loop only.
#pragma once

#include "mcp/protocol/client_context.hpp"
#include "mcp/protocol/input_request.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <memory>
#include <optional>

namespace rkllm_mcp {

class Invocation;
class Session;

// How long a client may go on using a result without asking again, and whether it may show it to its other users.
struct Freshness {
  std::chrono::milliseconds lasts{0};
  enum class Scope { kPrivate, kPublic } scope = Scope::kPrivate;
};

class Era {
 public:
  virtual ~Era() = default;

  virtual bool has_handshake() const = 0;
  virtual bool ends_with_exchange() const = 0;  // an HTTP client that disconnects has cancelled
  virtual bool logs_by_request() const = 0;     // who wants log messages says so in each request
  // Who asks. Throws RpcError if the request does not say what it has to.
  virtual ClientContext client_of(const Revision& revision, const Json& params, const Session& session) const = 0;
  // `body` as a complete result. `server` is {"name","version"}.
  virtual Json result(Json body, const std::optional<Freshness>& freshness, const Json& server) const = 0;
  // Gets the invocation's tool called again with what the client says to `requests`.
  virtual void ask(Invocation& invocation, InputRequests requests, Json state) const = 0;
};

}  // namespace rkllm_mcp
