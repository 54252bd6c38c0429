// POST, GET, DELETE /mcp: the protocol's Streamable HTTP transport in both eras, and direct calls. Event loop only.
//
// Handshake era: `initialize` opens a session, named by the Mcp-Session-Id header of its answer. Its tools answer on
// streams that can be resumed (GET with Last-Event-ID); GET without that header is the session's standing stream.
// Requests without a session are served too, from the one that all such clients share: a call needs no handshake here.
//
// Stateless era: every POST stands for itself, and its headers must agree with its message; a client that disconnects
// has cancelled.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "transport/http/http_exchange.hpp"

#include <memory>
#include <optional>

namespace rkllm_mcp {

class HttpPeer;

class StreamableHttp {
 public:
  StreamableHttp(Dispatcher& dispatcher, HttpSessions& sessions) : dispatcher_(dispatcher), sessions_(sessions) {}

  // An http::Handler for the path.
  void handle(const http::Request& request, http::Exchange& exchange);

 private:
  // In which session a message is executed, and who gets its answer.
  struct Way {
    std::shared_ptr<Session> session;  // held until the message has been taken; so is `peer`
    std::shared_ptr<Peer> peer;
    Delivery delivery;
  };

  // Nothing: the exchange has been answered.
  std::optional<Way> way_of(const http::Request& request, const Message& message, http::Exchange& exchange);
  std::optional<Way> stateless_way(const http::Request& request, const Request& message, HttpPeer& peer);
  std::optional<Way> new_session_way(const http::Request& request, const Request& message, HttpPeer& peer);
  std::optional<Way> session_way(const http::Request& request, const Request* message, http::Exchange& exchange);
  void get(const http::Request& request, http::Exchange& exchange);
  void end_session(const http::Request& request, http::Exchange& exchange);

  Dispatcher& dispatcher_;
  HttpSessions& sessions_;
};

}  // namespace rkllm_mcp
