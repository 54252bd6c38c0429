// One message per datagram. What gets lost stays lost until it is asked for again.
#pragma once

#include "client/connection.hpp"
#include "client/sockets/socket.hpp"
#include "clock.hpp"

#include <cstddef>
#include <string>

namespace rkllm_mcp::client {

class UdpConnection final : public Connection {
 public:
  UdpConnection(const Endpoint& endpoint, Clock::time_point deadline)
      : socket_(Socket::Kind::kDatagram, endpoint, deadline), token_(endpoint.token) {}

  // Throws std::invalid_argument if the message is too long, with the token in it, or has no place for the token.
  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override;
  bool reliable() const override { return false; }
  void interrupt() override { socket_.shut_down(); }

 private:
  void send_datagram(std::string_view bytes);

  Socket socket_;
  const std::string token_;
};

}  // namespace rkllm_mcp::client
