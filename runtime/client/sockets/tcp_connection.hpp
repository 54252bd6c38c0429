// One message per line, on TCP or a Unix socket.
#pragma once

#include "client/connection.hpp"
#include "client/sockets/socket.hpp"
#include "clock.hpp"

#include <atomic>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace rkllm_mcp::client {

class TcpConnection final : public Connection {
 public:
  // On a socket that is connected already, and will be closed. `where` is for messages. Unless a longest is named, the
  // other side is trusted: its messages may be of any length.
  TcpConnection(int connected, std::string where, std::size_t longest = std::numeric_limits<std::size_t>::max())
      : where_(where), longest_(longest), socket_(connected, std::move(where)) {}
  TcpConnection(const Endpoint& endpoint, Clock::time_point deadline)
      : where_(endpoint.authority()),
        longest_(kLongestMessage),
        endpoint_(endpoint),
        socket_(Socket::Kind::kStream, endpoint, deadline) {}

  void send(std::string_view message) override;
  // As send(), without waiting: false if it cannot be sent now. Another thread may be in receive() meanwhile.
  bool try_send(std::string_view message) { return socket_.try_send(std::string(message) + "\n"); }
  std::optional<std::string> receive(Clock::time_point deadline) override;
  void interrupt() override {
    is_interrupted_ = true;
    socket_.shut_down();
  }

 private:
  std::optional<std::size_t> receive_some(std::span<char> buffer, Clock::time_point deadline);
  [[noreturn]] void refuse_other_protocol(const std::string& what) const;

  const std::string where_;
  const std::size_t longest_;                 // message, in bytes
  const std::optional<Endpoint> endpoint_{};  // nothing: a socket that was connected already
  Socket socket_;
  std::atomic<bool> is_interrupted_ = false;
  bool has_spoken_ = false;  // a line has come
  std::string received_;
  std::size_t taken_ = 0;     // so many bytes of received_ have been handed out
  std::size_t searched_ = 0;  // so many bytes of received_ hold no further newline
};

}  // namespace rkllm_mcp::client
