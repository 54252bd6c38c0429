// One client as the layers above a transport see it: a way for whole messages, and what is known of who is at its end.
// How a request of the client is answered is in answer_sink.hpp.
//
// Threads: a peer belongs to the event loop; every function is called there, and every callback comes from there.
// A peer must be let go of before the loop itself is destroyed.
#pragma once

#include "transport/answer_sink.hpp"
#include "transport/bytes/writable.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp {

enum class TransportKind { kStdio, kTcp, kUnix, kUdp, kHttp, kWebSocket };

// An address without its port: "127.0.0.1" of "127.0.0.1:40112", "[::1]" of "[::1]:40112".
std::string_view host_of(std::string_view address);

std::string_view name_of(TransportKind kind);  // "stdio", "tcp", "unix", "udp", "http", "ws"

// The longest message that a stream makes of joined tokens, where the transport wants no other.
inline constexpr std::size_t kUsualChunkBytes = std::size_t{64} * 1024;

// What is known of a client from its beginning to its end.
struct PeerFacts {
  TransportKind transport{};
  std::string address{};     // for logs, e.g. "127.0.0.1:40112"
  std::string credential{};  // the token that it presented as it connected, empty if none
  // The longest message that send() can carry, and the longest one that a stream should make of joined tokens.
  std::size_t max_message_bytes = static_cast<std::size_t>(-1);
  std::size_t preferred_chunk_bytes = kUsualChunkBytes;
  bool takes_messages = true;  // false: nothing but the answer to its request (HTTP without an event stream)
};

// What a transport has to say for itself is send(), close() and input_resumed(), and Writable's ready(), closed() and
// has_room_for(). tests/runtime/transport/peer_contract_test.cpp holds every transport to it.
class Peer : public Writable, public std::enable_shared_from_this<Peer> {
 public:
  // `answer`: what answers a request of this client that is no part of a batch. It may be the peer itself.
  Peer(PeerFacts facts, AnswerSink& answer) : facts_(std::move(facts)), answer_(answer) {}

  const PeerFacts& facts() const { return facts_; }
  AnswerSink& answer() const { return answer_; }

  // Queues one complete message (JSON text without a newline); the transport adds its framing. Never blocks. A message
  // is accepted even when ready() is false, so that a reply is never lost; whoever can wait asks ready() first.
  // Silently dropped once the peer is closed.
  virtual void send(std::string_view message) = 0;
  // Ends the connection after what is queued has been written; from now on closed() is true. Idempotent. The actions of
  // when_closed() run when the last byte is written or given up, never from inside this function. Does nothing where
  // there is no connection to end: a plain HTTP exchange ends with its answer.
  virtual void close() = 0;

  // Gives the receiver no more messages until resume_input(): the message just received takes longer, and the next one
  // must not be handled before it. For transports that carry messages in an order. Calls nest: it goes on when it has
  // been resumed as often as it was held.
  void hold_input() { ++times_held_; }
  void resume_input() {
    if (--times_held_ == 0) input_resumed();
  }
  // Its client has shown who it is: by a valid token, or, where no tokens are asked for, by being connected. Until then
  // it may send short messages only, and UDP sends it little: the address may be somebody else's.
  void prove() { has_proved_ = true; }
  bool has_proved() const { return has_proved_; }

 protected:
  bool input_is_held() const { return times_held_ > 0; }
  // Nothing holds it any more: what has waited is the receiver's. May be called from inside the receiver, which has
  // held the input and resumed it, and after close().
  virtual void input_resumed() = 0;

 private:
  const PeerFacts facts_;
  AnswerSink& answer_;
  unsigned times_held_ = 0;  // how often hold_input() was called, less resume_input()
  bool has_proved_ = false;
};

// A peer that also is the AnswerSink of its own requests; the peers of all transports are of this kind.
class AnsweringPeer : public Peer, public AnswerSink {
 public:
  explicit AnsweringPeer(PeerFacts facts)
      : Peer(std::move(facts), static_cast<AnswerSink&>(*this)), AnswerSink(static_cast<Peer&>(*this)) {}

  bool has_room_for(std::size_t bytes) const override = 0;  // of Writable and of AnswerSink
  std::shared_ptr<AnswerSink> keep() override { return {shared_from_this(), this}; }
  void expected() override {}
  void refuse() override { close(); }
};

// The peer of a connection, on which answers travel among other messages: last() just sends, none() does nothing.
class ConnectedPeer : public AnsweringPeer {
 public:
  using AnsweringPeer::AnsweringPeer;

  void last(std::string message, std::optional<ErrorCode> /*error*/) override { send(message); }
  void none() override {}
  void resume_after(std::chrono::milliseconds /*pause*/) override {}
};

// A peer without a client: it drops what it is sent. For requests whose sender has no connection, or waits for nothing
// more on it. Its address is the sender's.
//
// Threads: event loop only.
class SilentPeer final : public ConnectedPeer {
 public:
  SilentPeer(TransportKind transport, std::string address)
      : ConnectedPeer({.transport = transport, .address = std::move(address)}) {}

  void send(std::string_view /*message*/) override {}
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }
  bool ready() const override { return true; }
  bool closed() const override { return false; }
  void close() override {}

 private:
  void input_resumed() override {}
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
// until the peer is closed, or (PairedHttp) as long as the peer lives: so the function should hold the peer weakly.
using AcceptFunction = std::function<ReceiveFunction(Peer&)>;

}  // namespace rkllm_mcp
