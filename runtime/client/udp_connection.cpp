#include "client/udp_connection.hpp"

#include <rkllm_mcp/json.hpp>

#include <array>
#include <stdexcept>

namespace rkllm_mcp::client {

void UdpConnection::send(std::string_view message) {
  if (token_.empty()) return socket_.send(message);
  Json with_token = Json::parse(message, nullptr, false);
  if (!with_token.is_object()) return socket_.send(message);  // nothing that the server would do
  if (with_token.contains("params") && !with_token["params"].is_object()) {
    throw std::invalid_argument("over UDP a token travels in the parameters, which must then be an object");
  }
  with_token["params"]["_meta"]["token"] = token_;
  socket_.send(with_token.dump());
}

std::optional<std::string> UdpConnection::receive(Deadline deadline) {
  std::array<char, 65536> buffer;
  const auto size = socket_.receive(buffer, deadline);
  if (!size) return std::nullopt;
  return std::string(buffer.data(), *size);
}

}  // namespace rkllm_mcp::client
