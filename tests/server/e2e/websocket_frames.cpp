#include "websocket_frames.hpp"

#include "client/ws_handshake.hpp"

namespace rkllm_mcp::test {
namespace {

constexpr std::string_view kMask = "mask";
constexpr unsigned kFinal = 0x80;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kLengthIn16Bits = 126;
constexpr unsigned kLengthIn64Bits = 127;

void append_number(std::string& bytes, std::uint64_t number, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
}

}  // namespace

void open_websocket(RawSocket& socket, const client::Endpoint& endpoint) {
  const std::string key = client::new_websocket_key();
  socket.send(client::upgrade_request(endpoint, key));
  client::check_upgrade_response(socket.receive_until("\r\n\r\n"), key);
}

std::string masked_frame(Opcode opcode, std::string_view payload, Fragment fragment) {
  std::string frame;
  append_number(frame, (fragment == Fragment::kLast ? kFinal : 0) | static_cast<unsigned>(opcode), 1);
  if (payload.size() < kLengthIn16Bits) {
    append_number(frame, kMasked | payload.size(), 1);
  } else if (payload.size() <= 0xFFFF) {
    append_number(frame, kMasked | kLengthIn16Bits, 1);
    append_number(frame, payload.size(), 2);
  } else {
    append_number(frame, kMasked | kLengthIn64Bits, 1);
    append_number(frame, payload.size(), 8);
  }
  frame += kMask;
  for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ kMask[i % kMask.size()]);
  return frame;
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
