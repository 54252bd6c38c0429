// One message per line, on TCP or a Unix socket.
#pragma once

#include "client/connection.hpp"
#include "client/socket.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace rkllm_mcp::client {

class TcpConnection final : public Connection {
 public:
  // On a socket that is connected already, and will be closed. `where` is for messages.
  TcpConnection(int connected, std::string where) : socket_(connected, std::move(where)) {}
  TcpConnection(const Endpoint& endpoint, Deadline deadline) : socket_(Socket::Kind::kStream, endpoint, deadline) {}

  void send(std::string_view message) override;
  std::optional<std::string> receive(Deadline deadline) override;

 private:
  Socket socket_;
  std::string received_;
  std::size_t taken_ = 0;     // of it has been handed out
  std::size_t searched_ = 0;  // of it is known to hold no further newline
};

}  // namespace rkllm_mcp::client
