// One message per WebSocket text frame (RFC 6455); pings are answered on the way.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/sockets/socket.hpp"
#include "clock.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

class WsConnection final : public Connection {
 public:
  WsConnection(const Endpoint& endpoint, Clock::time_point deadline);
  ~WsConnection() override;

  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override;
  void interrupt() override { socket_.shut_down(); }

 private:
  using Opcode = websocket::Opcode;
  struct Frame {
    bool final;
    Opcode opcode;
    std::string payload;
  };

  void open(const Endpoint& endpoint, Clock::time_point deadline);
  bool fill(Clock::time_point deadline);       // reads some bytes; false at the deadline
  std::optional<Frame> take_frame();           // out of what has been read; nothing if it is not complete
  void answer_ping(std::string_view payload);  // without waiting
  void send_frame(Opcode opcode, std::string_view payload);
  static std::string frame(Opcode opcode, std::string_view payload);

  const std::string where_;
  Socket socket_;
  std::mutex sending_;    // one frame at a time: receive() answers pings
  std::string received_;  // bytes not yet taken
  std::string message_;   // fragments so far
  bool closed_ = false;   // by the server's close frame
};

// The HTTP exchange that opens a WebSocket, seen from the client (RFC 6455, section 4):
// a key for it, what is sent, and what is to come back.
std::string new_websocket_key();  // 16 random bytes in base64
std::string upgrade_request(const Endpoint& endpoint, std::string_view key);
// Throws ConnectionError unless `head` (status line and headers) accepts the request that was made with `key`;
// TokenRefused with the status line alone, since only the caller knows whether a token was presented.
void check_upgrade_response(std::string_view head, std::string_view key);

}  // namespace rkllm_mcp::client
