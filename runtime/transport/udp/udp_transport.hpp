// UDP: one message per datagram, one peer per remote address and port.
//
// Nothing is guaranteed to arrive; the layer above numbers what it streams and can send it again. What this layer does
// about it: a peer gets at most udp_burst datagrams per millisecond, so that a reader on the same machine keeps up;
// after that ready() is false until the next tick, and streams join tokens meanwhile. There is no connection to lose,
// but a machine that answers "nobody listens there" (ICMP) makes its peer closed, as does a long silence.
//
// An address can be forged, and what is sent there then hits somebody who has asked for nothing. A peer that has not
// proved itself is therefore sent at most kAnswerFactor times the bytes that came from it, and kSmallErrorBytes more;
// what exceeds that is dropped. A peer is proved by a token (Peer::prove), or by its address being this machine's own,
// where everybody may call.
//
// Threads: belongs to the event loop.
#pragma once

#include "counts.hpp"
#include "limit.hpp"
#include "transport/bytes/listener.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/udp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rkllm_mcp {

inline constexpr std::size_t kAnswerFactor = 3;
inline constexpr std::size_t kSmallErrorBytes = 256;

struct UdpOptions {
  ListenAddress listen;
  std::size_t max_message_bytes = kMaxDatagramBytes;  // incoming; a longer one is reported as Oversized
  std::size_t chunk_bytes{};                          // of a stream's datagram
  std::size_t send_queue_bytes{};                     // per peer; what is sent beyond that is dropped
  std::size_t udp_burst = 32;                         // datagrams per peer and millisecond
  std::size_t max_peers{};              // then one is forgotten: not proved if possible, silent for longest
  std::size_t max_peers_per_address{};  // of one machine (of IPv6 a /64 network); then one of that is forgotten
  bool loopback_is_proof = true;        // false where tokens are asked for
  Counts* counts = nullptr;
  std::chrono::milliseconds idle{};  // without a datagram in either direction, until a peer is forgotten
};

class UdpTransport {
 public:
  // Receives from now on. Throws ListenError.
  UdpTransport(asio::io_context& io, const UdpOptions& options, AcceptFunction accept);
  UdpTransport(const UdpTransport&) = delete;
  UdpTransport& operator=(const UdpTransport&) = delete;
  ~UdpTransport();

  std::uint16_t port() const;
  std::size_t connection_count() const;  // peers remembered
  void stop();                           // receives nothing any more; what is queued is still sent
  void close_all();                      // forgets every peer once what is queued for it has been sent
  void abort_all();                      // forgets every peer at once

 private:
  class Socket;
  class UdpPeer;

  std::shared_ptr<Socket> socket_;
};

// --- what the network says about datagrams sent earlier: Linux keeps ICMP errors per socket if asked to

void report_udp_errors(asio::ip::udp::socket& socket);  // from now on
// The remote ends at which nobody listens any more, as reported since the last call. Never blocks.
std::vector<asio::ip::udp::endpoint> take_udp_errors(asio::ip::udp::socket& socket);

}  // namespace rkllm_mcp
