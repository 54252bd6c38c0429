// What WebSocket is on the wire (RFC 6455): the handshake that a connection begins with, and the frames that both ends
// write. Frames of clients are masked, those of servers are not; no extensions.
//
// No input or output happens here. Threads: any.
#pragma once

#include "transport/http/http_message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp::websocket {

enum class Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// The first byte of a frame.
inline constexpr std::uint8_t kFinalBit = 0x80;
inline constexpr std::uint8_t kReservedBits = 0x70;
inline constexpr std::uint8_t kOpcodeBits = 0x0F;
// The second byte. A length of more than 125 follows it, in 2 or 8 bytes, and then the mask.
inline constexpr std::uint8_t kMaskBit = 0x80;
inline constexpr std::uint8_t kLengthBits = 0x7F;
inline constexpr std::uint8_t kLengthIn16Bits = 126;
inline constexpr std::uint8_t kLengthIn64Bits = 127;
inline constexpr std::size_t kLargestControlPayload = 125;  // of a close frame, a ping or a pong

// Close codes that this server sends by itself.
enum class Close : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupported = 1003,  // a binary frame
  kInvalidText = 1007,
  kTooSlow = 1008,  // a message that takes longer than it may
  kUnauthorized = 4401,
};

// The header of an unmasked, unfragmented frame; the payload follows it. A client adds kMaskBit to its second byte, and
// then the mask.
std::string frame_header(Opcode opcode, std::size_t payload_bytes);
// The payload of a close frame: the code in network order, then the reason.
std::string close_payload(Close code, std::string_view reason);

// --- how an HTTP request becomes a WebSocket connection (RFC 6455, section 4)

// Whether the client asks for WebSocket, rightly or not.
bool wants_websocket(const http::Request& request);

// The answer: 101 with the key's proof, and subprotocol `mcp` if the client offered it; or 426 for another version of
// the protocol, or 400 for a request that is not in order.
http::Response handshake(const http::Request& request);

// What a request that does not ask for WebSocket gets where nothing else is served.
http::Response upgrade_required();

// Sec-WebSocket-Accept for a key: what the server proves with, and the client compares.
std::string accept_key(std::string_view key);

}  // namespace rkllm_mcp::websocket
