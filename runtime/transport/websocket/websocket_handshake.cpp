#include "transport/websocket/websocket_handshake.hpp"

#include <rkllm_mcp/base64.hpp>

#include <openssl/evp.h>

#include <array>
#include <span>
#include <stdexcept>

namespace rkllm_mcp::websocket {

namespace {

// 16 bytes in base64.
bool is_key(std::string_view key) {
  return key.size() == 24 && key.substr(22) == "==" &&
         key.substr(0, 22).find_first_not_of(kBase64Alphabet) == std::string_view::npos;
}

}  // namespace

bool wants_websocket(const http::Request& request) { return request.headers.lists("Upgrade", "websocket"); }

std::string accept_key(std::string_view key) {
  const auto text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // fixed by the RFC
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int digest_bytes = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &digest_bytes, EVP_sha1(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-1, which WebSocket needs");
  }
  return encode_base64(std::as_bytes(std::span(digest).first(digest_bytes)));
}

http::Response handshake(const http::Request& request) {
  const auto& headers = request.headers;
  if (request.method != "GET" || request.is_http_1_0 || !request.body.empty()) {
    return http::plain_response(400, "WebSocket begins with an HTTP/1.1 GET request without body");
  }
  if (!headers.lists("Connection", "Upgrade")) return http::plain_response(400, "Connection: Upgrade is missing");
  if (headers.count("Sec-WebSocket-Version") != 1 || *headers.find("Sec-WebSocket-Version") != "13") {
    auto response = http::plain_response(426, "only version 13 of WebSocket is spoken here");
    response.headers = {{"Sec-WebSocket-Version", "13"}, {"Upgrade", "websocket"}};
    return response;
  }
  if (headers.count("Sec-WebSocket-Key") != 1 || !is_key(*headers.find("Sec-WebSocket-Key"))) {
    return http::plain_response(400, "Sec-WebSocket-Key must be 16 bytes in base64");
  }
  http::Response response;
  response.status = 101;
  response.headers = {{"Upgrade", "websocket"},
                      {"Connection", "Upgrade"},
                      {"Sec-WebSocket-Accept", accept_key(*headers.find("Sec-WebSocket-Key"))}};
  if (headers.lists("Sec-WebSocket-Protocol", "mcp")) response.headers.add("Sec-WebSocket-Protocol", "mcp");
  return response;
}

http::Response upgrade_required() {
  auto response = http::plain_response(426, "this port speaks WebSocket");
  response.headers = {{"Upgrade", "websocket"}};
  return response;
}

}  // namespace rkllm_mcp::websocket
