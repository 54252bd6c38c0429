// HTTP/1.1: requests go to a handler; WebSocket clients, on one path of the same port, become peers.
//
// Small and strict rather than complete: no compression, no multipart. What is ambiguous is refused (see
// http_parser.hpp). Host and Origin are checked before anything is handed on; preflights of listed origins are answered
// here.
//
// Threads: belongs to the event loop.
#pragma once

#include "immutable.hpp"
#include "transport/bytes/channel_set.hpp"
#include "transport/bytes/listener.hpp"
#include "transport/bytes/tls_identity.hpp"
#include "transport/http/http_connection.hpp"
#include "transport/http/http_exchange.hpp"
#include "transport/http/origin_policy.hpp"
#include "transport/limits.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace rkllm_mcp::websocket {
class Transport;
}

namespace rkllm_mcp::http {

struct Options {
  ListenAddress listen;
  ConnectionLimits limits;  // max_message_bytes bounds a body; idle is not used (see timeouts)
  Timeouts timeouts;
  OriginOptions origins;
  websocket::Limits websocket;
  std::string websocket_path = "/ws";
  std::size_t header_bytes{};        // of a request, else 431
  RefusalHandler refused{};          // null = plain texts
  const TlsIdentity* tls = nullptr;  // outlives the transport; null = plain
  // Tells whose access token a request presents. If it is nobody's, the body may only be as long as
  // limits.stranger_message_bytes says. Null: nobody is asked for a token, and that limit does not hold.
  Identify identify{};
  GuessHandler refuse_guess{};  // of a request that presents a token which is nobody's; null: always at once
};

class Transport {
 public:
  // Listens from now on. Throws ListenError. Without `accept_websocket` there is no WebSocket on this port.
  Transport(asio::io_context& io, const Options& options, Handler handler, AcceptFunction accept_websocket);

  std::uint16_t port() const { return port_; }
  std::size_t connection_count() const { return channels_.size(); }  // WebSocket ones included
  void stop() { listener_.stop(); }                                  // accepts nobody any more
  void close_all() { channels_.close_all(); }                        // after what is queued has been written
  void abort_all() { channels_.abort_all(); }                        // at once, whatever is queued

 private:
  friend class websocket::Transport;
  Transport(asio::io_context& io, TransportKind kind, const Options& options, Handler handler,
            AcceptFunction accept_websocket);

  void accepted(asio::ip::tcp::socket socket);

  asio::io_context& io_;
  const ConnectionLimits limits_;
  const TlsIdentity* const tls_;
  ChannelSet channels_;
  RefusedConnections refused_connections_;
  Listener listener_;
  std::uint16_t port_;
  const Immutable<Surroundings> around_;
};

}  // namespace rkllm_mcp::http
