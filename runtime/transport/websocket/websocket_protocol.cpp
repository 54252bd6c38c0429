#include "transport/websocket/websocket_protocol.hpp"

#include <rkllm_mcp/base64.hpp>

#include <openssl/evp.h>

#include <array>
#include <span>
#include <stdexcept>

namespace rkllm_mcp::websocket {
namespace {

void append_big_endian(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = count; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

}  // namespace

std::string frame_header(Opcode opcode, std::size_t payload_bytes) {
  std::string header(1, static_cast<char>(kFinalBit | static_cast<std::uint8_t>(opcode)));
  if (payload_bytes < kLengthIn16Bits) {
    header += static_cast<char>(payload_bytes);
  } else if (payload_bytes <= 0xFFFF) {
    header += static_cast<char>(kLengthIn16Bits);
    append_big_endian(header, payload_bytes, 2);
  } else {
    header += static_cast<char>(kLengthIn64Bits);
    append_big_endian(header, payload_bytes, 8);
  }
  return header;
}

std::string close_payload(Close code, std::string_view reason) {
  std::string payload;
  append_big_endian(payload, static_cast<std::uint16_t>(code), 2);
  return payload.append(reason.substr(0, kLargestControlPayload - 2));
}

namespace {

// 16 bytes in base64.
bool is_key(std::string_view key) {
  return key.size() == 24 && key.substr(22) == "==" &&
         key.substr(0, 22).find_first_not_of(kBase64Alphabet) == std::string_view::npos;
}

// Names of subprotocols differ by case (RFC 6455, section 4.1), unlike most of what header fields list.
bool offers_mcp(const http::Headers& headers) {
  return headers.lists("Sec-WebSocket-Protocol", "mcp", http::Headers::Case::kCounts);
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
  if (offers_mcp(headers)) response.headers.add("Sec-WebSocket-Protocol", "mcp");
  return response;
}

http::Response upgrade_required() {
  auto response = http::plain_response(426, "this port speaks WebSocket");
  response.headers = {{"Upgrade", "websocket"}};
  return response;
}

}  // namespace rkllm_mcp::websocket
