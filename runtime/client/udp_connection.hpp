// One message per datagram. What gets lost stays lost until it is asked for again.
#pragma once

#include "client/connection.hpp"
#include "client/socket.hpp"

#include <atomic>

namespace rkllm_mcp::client {

class UdpConnection final : public Connection {
 public:
  UdpConnection(const Endpoint& endpoint, Deadline deadline)
      : socket_(Socket::Kind::kDatagram, endpoint, deadline), token_(endpoint.token) {}

  void send(std::string_view message) override;
  std::optional<std::string> receive(Deadline deadline) override;
  bool reliable() const override { return false; }
  void interrupt() override;

 private:
  Socket socket_;
  const std::string token_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace rkllm_mcp::client
