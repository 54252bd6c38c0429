// One message per line.
#pragma once

#include "client/connection.hpp"
#include "client/socket.hpp"

namespace rkllm_mcp::client {

class TcpConnection final : public Connection {
 public:
  TcpConnection(const Endpoint& endpoint, Deadline deadline) : socket_(Socket::Kind::kStream, endpoint, deadline) {}

  void send(std::string_view message) override;
  std::optional<std::string> receive(Deadline deadline) override;

 private:
  Socket socket_;
  std::string received_;      // not yet handed out
  std::size_t searched_ = 0;  // how much of it is known to hold no newline
};

}  // namespace rkllm_mcp::client
