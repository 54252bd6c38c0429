#include "client/udp_connection.hpp"

#include <array>

namespace rkllm_mcp::client {

void UdpConnection::send(std::string_view message) { socket_.send(message); }

std::optional<std::string> UdpConnection::receive(Deadline deadline) {
  std::array<char, 65536> buffer;
  const auto size = socket_.receive(buffer, deadline);
  if (!size) return std::nullopt;
  return std::string(buffer.data(), *size);
}

}  // namespace rkllm_mcp::client
