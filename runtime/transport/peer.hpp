// One client as the layers above a transport see it: somewhere to send whole messages.
//
// Threads: a peer belongs to the event loop; every function is called there, and every callback comes from there.
// A peer must be let go of before the loop itself is destroyed.
#pragma once

#include "transport/bytes/writable.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp {

enum class TransportKind { kStdio, kTcp, kUnix, kUdp, kHttp, kWebSocket };

// An address without its port: "127.0.0.1" of "127.0.0.1:40112", "[::1]" of "[::1]:40112".
std::string_view host_of(std::string_view address);

std::string_view name_of(TransportKind kind);  // "stdio", "tcp", "unix", "udp", "http", "ws"

// Nothing here has a default, so that a peer which stands in front of another one cannot forget to pass something on.
// What peers of one kind have in common is in ConnectedPeer and ExchangePeer, below.
class Peer : public Writable, public std::enable_shared_from_this<Peer> {
 public:
  // --- the client's connection ---

  // Queues one complete message (JSON text without a newline); the transport adds its framing. Never blocks. A message
  // is accepted even when ready() is false, so that a reply is never lost; whoever can wait asks ready() first.
  // Silently dropped once the peer is closed.
  virtual void send(std::string_view message) = 0;
  // Gives the receiver no more messages until resume_input(): the message just received takes longer, and the next one
  // must not be handled before it. For transports that carry messages in an order. Calls nest: it goes on when it has
  // been resumed as often as it was held.
  virtual void hold_input() = 0;
  virtual void resume_input() = 0;
  // Ends the connection after what is queued has been written; from now on closed() is true. Idempotent. The actions of
  // when_closed() run when the last byte is written or given up, never from inside this function.
  virtual void close() = 0;
  // Ends the connection of a client that has not proved who it is. Transports without connections do nothing.
  virtual void refuse() = 0;
  // The client has presented a token that is valid. UDP sends little to clients that have not: their address may be
  // somebody else's.
  virtual void proved() = 0;
  // The token that the client presented as it connected, empty if none.
  virtual std::string_view credential() const = 0;
  virtual TransportKind transport() const = 0;
  virtual std::string address() const = 0;  // for logs, e.g. "127.0.0.1:40112"
  // The longest message that send() can carry, and the longest one that a stream should make of joined tokens.
  virtual std::size_t max_message_bytes() const = 0;
  virtual std::size_t preferred_chunk_bytes() const = 0;
  // False if this client can be sent nothing but the answer to its request (HTTP without an event stream).
  virtual bool takes_messages() const = 0;
  bool has_room_for(std::size_t bytes) const override = 0;
  void when_ready(std::function<void()> action) override = 0;

  // --- the answer to one request ---

  // A request of this peer is being executed: it will end with send_last() or end_unanswered(). UDP must not forget the
  // peer before that.
  virtual void expects_answer() = 0;
  // The last message that answers one request, or word that the request ends without an answer. Only a peer that lives
  // for one request (an HTTP exchange) needs to know.
  virtual void send_last(std::string message) = 0;
  virtual void end_unanswered() = 0;
  // The message that send_last() sends next is an error with this code. HTTP has a status of its own for some.
  virtual void answers_with(ErrorCode code) = 0;
  // Ends the response for now; the client asks for the rest after `pause`. Does nothing unless the client can do that
  // (an event stream over HTTP that can be resumed).
  virtual void release(std::chrono::milliseconds pause) = 0;
};

// The longest message that a stream makes of joined tokens, where the transport wants no other.
inline constexpr std::size_t kUsualChunkBytes = std::size_t{64} * 1024;

// A client with a connection, on which messages follow one another, answers or not.
class ConnectedPeer : public Peer {
 public:
  void refuse() override { close(); }
  void proved() override {}
  std::string_view credential() const override { return {}; }
  std::size_t max_message_bytes() const override { return static_cast<std::size_t>(-1); }
  std::size_t preferred_chunk_bytes() const override { return kUsualChunkBytes; }
  bool takes_messages() const override { return true; }
  void when_ready(std::function<void()> action) override { Writable::when_ready(std::move(action)); }
  void expects_answer() override {}
  void send_last(std::string message) override { send(message); }
  void end_unanswered() override {}
  void answers_with(ErrorCode /*code*/) override {}
  void release(std::chrono::milliseconds /*pause*/) override {}
};

// A client as long as one HTTP request is answered: the next request is another peer's, and has its own token.
class ExchangePeer : public Peer {
 public:
  void hold_input() override {}
  void resume_input() override {}
  void refuse() override { close(); }
  void proved() override {}
  std::string_view credential() const override { return {}; }
  TransportKind transport() const override { return TransportKind::kHttp; }
  std::size_t max_message_bytes() const override { return static_cast<std::size_t>(-1); }
  std::size_t preferred_chunk_bytes() const override { return kUsualChunkBytes; }
  void when_ready(std::function<void()> action) override { Writable::when_ready(std::move(action)); }
  void expects_answer() override {}
};

// A message longer than the limit was skipped; the connection goes on where its framing allows that.
struct Oversized {
  std::size_t bytes;  // as far as they were counted
  std::size_t limit;
};

// What came first on the connection is no message: somebody speaks HTTP or TLS to it, say. Comes alone; nothing of the
// connection is executed, and the transport closes it when this has been answered.
struct OtherProtocol {};

// There was no memory for a message; the connection goes on behind it.
struct NoRoom {
  std::string_view beginning;  // as far as it was read; gone when the receiver returns
};

// A message has not arrived whole within its time; the connection ends.
struct TooSlow {};

// The client has said all it will say (stdio, TCP), but may still be reading: `printf … | nc` works this way. Comes
// once, after the last message. Whoever receives it calls close() when nothing is in flight any more. That the client
// has really gone shows itself as a closed peer: the transport finds out (see Channel::keep_probing()).
struct EndOfInput {};

// What a transport has received from a peer: one message's text (bytes; only WebSocket has checked them for UTF-8),
// word of one that could not be taken or of another protocol, or the end.
using Received = std::variant<std::string_view, Oversized, NoRoom, TooSlow, OtherProtocol, EndOfInput>;
using ReceiveFunction = std::function<void(const Received&)>;

// What a transport asks for each new peer: the function that takes its messages. The transport keeps that function
// until the peer is closed. The function should hold the peer weakly: not every peer lets go of it when it is closed.
using AcceptFunction = std::function<ReceiveFunction(Peer&)>;

}  // namespace rkllm_mcp
