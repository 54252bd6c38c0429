// TCP: one message per line, many clients.
//
// A client that only stops sending (`printf … | nc -N`) is reported as EndOfInput and keeps receiving until the layer
// above closes the peer. TCP does not tell that apart from a client that has closed altogether; the next byte that is
// written to one that has closed comes back as a reset, which closes the peer at once. A client that dies with unread
// data resets immediately.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel_set.hpp"
#include "transport/bytes/listener.hpp"
#include "transport/bytes/tls_identity.hpp"
#include "transport/limits.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>

namespace rkllm_mcp {

struct TcpOptions {
  ListenAddress listen;
  ConnectionLimits limits;
  const TlsIdentity* tls = nullptr;  // outlives the transport; null = plain
  RefusalFunction refusal{};         // null: clients beyond a limit are cut off without a word
};

class TcpTransport {
 public:
  // Listens from now on. Throws ListenError.
  TcpTransport(asio::io_context& io, TcpOptions options, AcceptFunction accept);

  std::uint16_t port() const { return port_; }
  std::size_t connection_count() const { return channels_.size(); }
  void stop() { listener_.stop(); }            // accepts nobody any more
  void close_all() { channels_.close_all(); }  // after what is queued has been written
  void abort_all() { channels_.abort_all(); }  // at once, whatever is queued

 private:
  void accepted(asio::ip::tcp::socket socket);

  asio::io_context& io_;
  const TcpOptions options_;
  const AcceptFunction accept_;
  ChannelSet channels_;
  RefusedConnections refused_connections_;
  Listener listener_;
  std::uint16_t port_;
};

}  // namespace rkllm_mcp
