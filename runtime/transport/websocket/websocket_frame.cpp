#include "transport/websocket/websocket_frame.hpp"

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

}  // namespace rkllm_mcp::websocket
