// POST, DELETE /mcp: the protocol's Streamable HTTP transport for the handshake revisions, and direct calls. Event loop
// only.
//
// `initialize` opens a session, named by the Mcp-Session-Id header of its answer. Requests without that header are
// served too, from the session that all such clients share: a call needs no handshake here.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "transport/http_exchange.hpp"

#include <memory>

namespace rkllm_mcp {

class StreamableHttp {
 public:
  StreamableHttp(Dispatcher& dispatcher, HttpSessions& sessions) : dispatcher_(dispatcher), sessions_(sessions) {}

  // An HttpHandler for the path.
  void handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);

 private:
  void post(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  void end_session(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);

  Dispatcher& dispatcher_;
  HttpSessions& sessions_;
};

}  // namespace rkllm_mcp
