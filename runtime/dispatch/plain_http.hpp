// POST /jsonrpc: one JSON-RPC message in the body, one reply; streams are polled, in the session that
// Mcp-Session-Id names or else in the one that all share. Event loop only.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "transport/http_exchange.hpp"

#include <functional>
#include <memory>

namespace rkllm_mcp {

class PlainHttp {
 public:
  PlainHttp(Dispatcher& dispatcher, HttpSessions& sessions) : dispatcher_(dispatcher), sessions_(sessions) {}

  // An HttpHandler for the path.
  void handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);

 private:
  Dispatcher& dispatcher_;
  HttpSessions& sessions_;
};

class HttpPeer;

// Gives the request and the message in its body to `then`: at once, or, if it is long, when it has been read beside the
// loop; the request then comes without its body. Whoever waits for the answer is kept alive by `then`.
using BodyFunction = std::function<void(const HttpRequest&, const Message&)>;
void read_body(Dispatcher& dispatcher, const HttpRequest& request, BodyFunction then);
// Answers a message that cannot be executed with status 400. Shared by the HTTP endpoints, as is the next.
void refuse_over_http(Dispatcher& dispatcher, const Malformed& malformed, HttpPeer& peer);
// Executes the message in `session`. Its calls are cancelled when `peer`, which lives for this message, breaks off.
void receive_over_http(Dispatcher& dispatcher, const Message& message, const std::shared_ptr<Session>& session,
                       const std::shared_ptr<Peer>& peer, Delivery delivery);

}  // namespace rkllm_mcp
