// WebSocket on a port of its own: a handshake on any path makes a peer, every other request gets 426.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/http/http_transport.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>

namespace rkllm_mcp::websocket {

struct Options {
  ListenAddress listen;
  ConnectionLimits limits;  // idle is not used (see websocket)
  http::Timeouts timeouts;  // for the handshake
  http::OriginOptions origins;
  Limits websocket;
  std::size_t header_bytes{};        // of the handshake, else 431
  const TlsIdentity* tls = nullptr;  // outlives the transport; null = plain
};

class Transport {
 public:
  // Listens from now on. Throws ListenError.
  Transport(asio::io_context& io, const Options& options, AcceptFunction accept);

  std::uint16_t port() const { return server_.port(); }
  std::size_t connection_count() const { return server_.connection_count(); }
  void stop() { server_.stop(); }            // accepts nobody any more
  void close_all() { server_.close_all(); }  // after what is queued has been written
  void abort_all() { server_.abort_all(); }  // at once, whatever is queued

 private:
  http::Transport server_;
};

}  // namespace rkllm_mcp::websocket
