// One client as the layers above a transport see it: somewhere to send whole messages.
//
// Threads: a peer belongs to the event loop; every function is called there, and every callback comes from there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp {

enum class TransportKind { kStdio, kTcp, kUdp, kHttp, kWebSocket };

std::string_view name_of(TransportKind kind);  // "stdio", "tcp", "udp", "http", "ws"

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  virtual ~Peer() = default;

  // Queues one complete message (JSON text without a newline); the transport adds its framing. Never blocks. A message
  // is accepted even when ready() is false, so that a reply is never lost; whoever can wait asks ready() first. Silently
  // dropped once the peer is closed.
  virtual void send(std::string_view message) = 0;
  // The last message that answers one request, or word that the request ends without an answer. Only a peer that lives for
  // one request (an HTTP exchange) needs to know.
  virtual void send_last(std::string_view message) { send(message); }
  virtual void end_unanswered() {}
  // False while as many bytes wait for this client as its send queue may hold.
  virtual bool ready() const = 0;
  // Ends the connection after what is queued has been written. Idempotent.
  virtual void close() = 0;
  virtual bool closed() const = 0;
  virtual TransportKind transport() const = 0;
  virtual std::string address() const = 0;  // for logs, e.g. "127.0.0.1:40112"
  // The longest message that send() can carry, and the longest one that a stream should make of joined tokens.
  virtual std::size_t max_message_bytes() const { return static_cast<std::size_t>(-1); }
  virtual std::size_t preferred_chunk_bytes() const { return 64 * 1024; }

  // Calls `action` once, as soon as ready() has become true again (never from inside this function). Dropped at close.
  void when_ready(std::function<void()> action) { ready_actions_.push_back(std::move(action)); }
  // Calls `action` once, when the peer has closed, whichever side did it. At once if it is closed already.
  void when_closed(std::function<void()> action);

 protected:
  void became_ready();   // for transports: ready() has turned true
  void became_closed();  // for transports: once, when no message can reach the client any more
  bool has_ready_actions() const { return !ready_actions_.empty(); }

 private:
  std::vector<std::function<void()>> ready_actions_;
  std::vector<std::function<void()>> closed_actions_;
};

// A message longer than the limit was skipped; the connection goes on where its framing allows that.
struct Oversized {
  std::size_t bytes;  // as far as they were counted
  std::size_t limit;
};

// What a transport has received from a peer: one message's text (bytes, not yet checked for UTF-8), or word of one that
// was too long.
using Received = std::variant<std::string_view, Oversized>;
using ReceiveFunction = std::function<void(const Received&)>;

// What a transport asks for each new peer: the function that takes its messages. The transport keeps that function for
// as long as the peer lives. It holds the peer weakly or by shared_ptr as it likes.
using AcceptFunction = std::function<ReceiveFunction(const std::shared_ptr<Peer>&)>;

}  // namespace rkllm_mcp
