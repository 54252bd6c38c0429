// A connected socket with deadlines, and the bytes that wait to be sent on it. Where the endpoint's
// protocol says so, all that it sends and receives is encrypted.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/sockets/tls_session.hpp"
#include "clock.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct addrinfo;  // of <netdb.h>

namespace rkllm_mcp::client {

// From now on a TCP connection is lost when the other host answers nothing for a minute, even if nothing is sent to it.
void notice_vanished_host(int descriptor);

// What is wrong with the host's name, if it has no address; else empty. Asks the resolver, which may take seconds.
std::string why_no_address(const Endpoint& endpoint);

// Bytes that wait to be sent: added behind, taken from the front, in time proportional to their number, however small
// the pieces are that the other side takes.
//
// Threads: one at a time.
class Outgoing {
 public:
  bool empty() const { return sent_ == bytes_.size(); }
  // The bytes that are still to be sent; valid until the next add() or sent().
  std::string_view rest() const { return std::string_view(bytes_).substr(sent_); }

  void add(std::string_view bytes) {
    // Dropping the bytes that have been sent moves the rest to the front: only when that is the smaller part.
    if (sent_ >= bytes_.size() - sent_) drop_sent();
    bytes_.append(bytes);
  }

  // So many bytes of rest() have been sent.
  void sent(std::size_t count) {
    sent_ += count;
    if (empty()) drop_sent();
  }

 private:
  void drop_sent() {
    bytes_.erase(0, sent_);
    sent_ = 0;
  }

  std::string bytes_;
  std::size_t sent_ = 0;  // of bytes_
};

class Socket {
 public:
  enum class Kind { kStream, kDatagram };

  // Tries every address of the host, and shakes hands where TLS is spoken. Throws ConnectionError, like everything
  // here; Unreachable if nobody accepts the connection.
  Socket(Kind kind, const Endpoint& endpoint, Clock::time_point deadline);
  // A socket that is connected already, and will be closed. `where` is for messages.
  Socket(int connected, std::string where);
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  void send(std::string_view bytes);  // all of them; a datagram as one
  // As send(), without waiting: false if the bytes cannot be sent now.
  bool try_send(std::string_view bytes);
  // From any thread: nothing can be sent or received any more, and calls that wait throw ConnectionError.
  void shut_down();
  // Reads what is there, at least one byte, or one datagram; 0 at the end of a stream; nothing at the deadline.
  std::optional<std::size_t> receive(std::span<char> buffer, Clock::time_point deadline);

 private:
  bool wait_for(short events, Clock::time_point deadline) const;
  void connect_to_file(const std::string& path, Clock::time_point deadline);
  bool try_address(const addrinfo& address, Clock::time_point deadline);
  void shake_hands(const Endpoint& endpoint, Clock::time_point deadline);
  void send_plain(std::string_view bytes);
  bool flush();  // sends what can be sent of outgoing_, under tls_mutex_; true if nothing is left
  void send_outgoing(Clock::time_point deadline);
  bool try_send_encrypted(std::string_view bytes);
  std::optional<std::size_t> receive_plain(std::span<char> buffer, Clock::time_point deadline);
  std::optional<std::size_t> receive_encrypted(std::span<char> buffer, Clock::time_point deadline);

  std::string where_;  // for messages
  int descriptor_ = -1;
  std::atomic<bool> is_shut_down_ = false;
  std::mutex tls_mutex_;             // guards what follows; never held while waiting
  std::unique_ptr<TlsSession> tls_;  // null: nothing is encrypted
  Outgoing outgoing_;                // encrypted, not yet sent
};

}  // namespace rkllm_mcp::client
