#include "client/sockets/ws_handshake.hpp"

#include "client/connection.hpp"
#include "random_bytes.hpp"
#include "transport/http/http_message.hpp"
#include "transport/websocket/websocket_handshake.hpp"

#include <rkllm_mcp/base64.hpp>

#include <algorithm>
#include <span>

namespace rkllm_mcp::client {
namespace {

// The value of a header, whatever its name's case; empty if it is absent.
std::string_view header(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (http::equal_ignoring_case(line.substr(0, colon), name)) return http::trim_blanks(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

std::string new_websocket_key() {
  const auto bytes = random_bytes<16>();
  return encode_base64(std::as_bytes(std::span(bytes)));
}

std::string upgrade_request(const Endpoint& endpoint, std::string_view key) {
  const std::string authorization = endpoint.token.empty() ? "" : "\r\nAuthorization: Bearer " + endpoint.token;
  return "GET " + endpoint.path + " HTTP/1.1\r\nHost: " + endpoint.authority() + authorization +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp"
         "\r\nSec-WebSocket-Key: " +
         std::string(key) + "\r\n\r\n";
}

void check_upgrade_response(std::string_view head, std::string_view key) {
  const std::string status(head.substr(0, head.find("\r\n")));
  if (!status.starts_with("HTTP/1.1 101")) throw ConnectionError("no WebSocket there: " + status);
  if (header(head, "Sec-WebSocket-Accept") != websocket::accept_key(key)) {
    throw ConnectionError("no WebSocket there: the handshake's Sec-WebSocket-Accept is wrong");
  }
}

}  // namespace rkllm_mcp::client
