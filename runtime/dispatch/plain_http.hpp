// POST /jsonrpc: one JSON-RPC message in the body, one reply; streams are polled, in the session that
// Mcp-Session-Id names or else in the one that all share. Event loop only.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "transport/http/http_exchange.hpp"

#include <functional>
#include <memory>

namespace rkllm_mcp {

class PlainHttp {
 public:
  PlainHttp(Dispatcher& dispatcher, HttpSessions& sessions) : dispatcher_(dispatcher), sessions_(sessions) {}

  // An http::Handler for the path.
  void handle(const http::Request& request, http::Exchange& exchange);

 private:
  Dispatcher& dispatcher_;
  HttpSessions& sessions_;
};

class HttpPeer;

// Parses the request's body and passes request and message to `then`: at once, or, if the body is long, later, when it
// has been parsed beside the loop; the request then comes without its body. `then` has to hold the exchange until then,
// and is not called if the client has gone meanwhile.
using BodyFunction = std::function<void(const http::Request&, const Message&)>;
void read_body(Dispatcher& dispatcher, const http::Request& request, http::Exchange& exchange, BodyFunction then,
               NullIds null_ids = NullIds::kRefused);
// Reports a message that cannot be executed, and answers it with status 400, or 503 if there was no memory for it.
// Plain and Streamable HTTP use it.
void refuse_over_http(Dispatcher& dispatcher, const Malformed& malformed, HttpPeer& peer);
// From now on, if the client disconnects, the calls of the message that `peer` answers are cancelled. To be called
// before that message is executed in `session`. Plain and Streamable HTTP use it.
void cancel_when_gone(Peer& peer, Session& session);

}  // namespace rkllm_mcp
