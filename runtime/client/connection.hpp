// One client's way to a server: whole messages there, whole messages back. Blocking.
//
// Threads: one may send while another receives (but over plain HTTP, PlainHttpConnection: use that from one thread).
#pragma once

#include "clock.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::client {

// The longest message that is taken from a server, in bytes. A longer one ends the connection, or over HTTP its
// request.
inline constexpr std::size_t kLongestMessage = std::size_t{16} << 20U;
inline constexpr const char* kTooLong = "a message is longer than 16 MiB";

// How long the answer to a request is waited for. A run may take long, and the server bounds it.
inline constexpr std::chrono::hours kAnswerPatience{1};

// The server cannot be reached, has gone away, or does not speak the protocol. The message is for a person.
class ConnectionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Nobody accepts connections there: no server runs, or its host is not to be reached.
class Unreachable : public ConnectionError {
 public:
  using ConnectionError::ConnectionError;
};

// There is no such host: nothing is known of a server.
class UnknownHost : public Unreachable {
 public:
  using Unreachable::Unreachable;
};

// The server's certificate cannot be verified: nobody who is trusted has signed it.
class UntrustedServer : public ConnectionError {
 public:
  using ConnectionError::ConnectionError;
};

// The server's certificate is for another name or address than the one that the server was reached by.
class MisnamedServer : public ConnectionError {
 public:
  using ConnectionError::ConnectionError;
};

// The server wants an access token, or refuses the one that was presented.
class TokenRefused : public ConnectionError {
 public:
  using ConnectionError::ConnectionError;
};

// Why a connection is lost, for those who ask for it later, from other threads, or who have more to say of it.
class Loss {
 public:
  explicit Loss(std::string reason) : reason_(std::move(reason)) {}
  explicit Loss(const ConnectionError& error) : reason_(error.what()) {
    if (dynamic_cast<const UntrustedServer*>(&error) != nullptr) kind_ = Kind::kUntrusted;
    if (dynamic_cast<const MisnamedServer*>(&error) != nullptr) kind_ = Kind::kMisnamed;
    if (dynamic_cast<const TokenRefused*>(&error) != nullptr) kind_ = Kind::kTokenRefused;
  }

  const std::string& reason() const { return reason_; }
  // There is a server, but one of the two does not accept the other.
  bool is_refusal() const { return kind_ != Kind::kOther; }
  // Throws the reason, with `more` behind it: as an error of the kind that this was made of if that was a refusal, else
  // as a plain ConnectionError.
  [[noreturn]] void raise(const std::string& more = {}) const {
    switch (kind_) {
      case Kind::kUntrusted: throw UntrustedServer(reason_ + more);
      case Kind::kMisnamed: throw MisnamedServer(reason_ + more);
      case Kind::kTokenRefused: throw TokenRefused(reason_ + more);
      case Kind::kOther: break;
    }
    throw ConnectionError(reason_ + more);
  }

 private:
  enum class Kind { kOther, kUntrusted, kMisnamed, kTokenRefused };
  std::string reason_;
  Kind kind_ = Kind::kOther;
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  // Sends one message: JSON text on one line. Throws ConnectionError; std::invalid_argument if this message cannot be
  // sent on this connection, though others can.
  virtual void send(std::string_view message) = 0;
  // The next message from the server; nothing when the deadline has passed. Throws ConnectionError, also when the
  // server has ended the connection.
  virtual std::optional<std::string> receive(Clock::time_point deadline) = 0;
  // False if messages may be lost on the way: a stream's gaps are then to be asked for with `poll`.
  virtual bool reliable() const { return true; }
  // From any thread: a receive() that waits ends at once with ConnectionError, and so does every later one when it has
  // handed out what had come. By default nothing happens, and receive() ends at its deadline.
  virtual void interrupt() {}
};

struct Endpoint;

// Connects to a server, whose dialects may both be spoken: HTTP is plain JSON-RPC. Throws ConnectionError.
std::unique_ptr<Connection> connect(const Endpoint& endpoint, Clock::time_point deadline);

// Connects to an MCP server: HTTP is Streamable HTTP, and over UDP requests are repeated until they are answered, so
// that it counts as reliable. Throws ConnectionError.
std::unique_ptr<Connection> connect_mcp(const Endpoint& endpoint, Clock::time_point deadline);

}  // namespace rkllm_mcp::client
