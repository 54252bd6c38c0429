#include "client/sockets/ws_handshake.hpp"

#include "client/connection.hpp"
#include "client/http/header_value.hpp"
#include "random_bytes.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace rkllm_mcp::client {
namespace {

std::string accept_of(std::string_view key) {
  const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

// The value of a header, whatever its name's case; empty if it is absent.
std::string_view header(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view found = line.substr(0, colon);
    const bool same = std::ranges::equal(
        found, name, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
    if (!same) continue;
    line.remove_prefix(colon + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    while (line.ends_with(' ')) line.remove_suffix(1);
    return line;
  }
  return {};
}

}  // namespace

std::string new_websocket_key() {
  const auto bytes = random_bytes<16>();
  return base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
  if (header(head, "Sec-WebSocket-Accept") != accept_of(key)) {
    throw ConnectionError("no WebSocket there: the handshake's Sec-WebSocket-Accept is wrong");
  }
}

}  // namespace rkllm_mcp::client
