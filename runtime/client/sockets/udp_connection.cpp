#include "client/sockets/udp_connection.hpp"

#include "jsonrpc/bounded_json.hpp"
#include "limit.hpp"

#include <array>
#include <stdexcept>

namespace rkllm_mcp::client {

void UdpConnection::send(std::string_view message) {
  if (token_.empty()) return send_datagram(message);
  Json with_token = parse_bounded(message).value_or(nullptr);
  if (!with_token.is_object()) return send_datagram(message);  // nothing that the server would do
  if (with_token.contains("params") && !with_token["params"].is_object()) {
    throw std::invalid_argument("over UDP an access token travels in the parameters, which must then be an object");
  }
  Json& meta = with_token["params"]["_meta"];
  if (!meta.is_null() && !meta.is_object())
    throw std::invalid_argument("over UDP an access token travels in params._meta");
  meta["token"] = token_;
  send_datagram(with_token.dump());
}

void UdpConnection::send_datagram(std::string_view bytes) {
  if (bytes.size() > kMaxDatagramBytes) {
    throw std::invalid_argument("the request is too long for a datagram, " + std::to_string(bytes.size()) + " of " +
                                std::to_string(kMaxDatagramBytes) + " bytes; use another transport");
  }
  socket_.send(bytes);
}

std::optional<std::string> UdpConnection::receive(Clock::time_point deadline) {
  std::array<char, 65536> buffer;
  const auto size = socket_.receive(buffer, deadline);
  if (!size) return std::nullopt;
  return std::string(buffer.data(), *size);
}

}  // namespace rkllm_mcp::client
