#include "support/raw_websocket.hpp"

#include "client/sockets/ws_connection.hpp"

#include <cstddef>
#include <cstdint>

namespace rkllm_mcp::test {
namespace {

constexpr unsigned kLengthIn16Bits = 126;

}  // namespace

void open_websocket(RawSocket& socket, const client::Endpoint& endpoint) {
  const std::string key = client::new_websocket_key();
  socket.send(client::upgrade_request(endpoint, key));
  client::check_upgrade_response(socket.receive_until("\r\n\r\n"), key);
}

std::string receive_frame(RawSocket& socket) {
  const std::string head = socket.receive(2);
  std::uint64_t length = static_cast<unsigned char>(head[1]);
  if (length >= kLengthIn16Bits) {
    const std::string bytes = socket.receive(length == kLengthIn16Bits ? 2 : 8);
    length = 0;
    for (const char byte : bytes) length = length << 8U | static_cast<unsigned char>(byte);
  }
  return socket.receive(static_cast<std::size_t>(length));
}

}  // namespace rkllm_mcp::test
