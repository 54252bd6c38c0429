// Frames as a WebSocket client writes them, right and wrong ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

// One client frame. `first` is its first byte: the final bit, reserved bits, opcode.
inline std::string client_frame(unsigned first, std::string_view payload, std::string_view mask = "\x12\x34\x56\x78") {
  std::string frame(1, static_cast<char>(first));
  const auto length = payload.size();
  const auto add = [&frame](std::size_t value, int bytes) {
    while (bytes-- > 0) frame += static_cast<char>(value >> (8 * bytes) & 0xFF);
  };
  if (length < 126) {
    add(0x80 | length, 1);
  } else if (length <= 0xFFFF) {
    add(0x80 | 126, 1);
    add(length, 2);
  } else {
    add(0x80 | 127, 1);
    add(length, 8);
  }
  frame += mask;
  for (std::size_t i = 0; i < length; ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  return frame;
}

constexpr unsigned kFinal = 0x80;
constexpr unsigned kContinuation = 0;
constexpr unsigned kText = 1;
constexpr unsigned kBinary = 2;
constexpr unsigned kClose = 8;
constexpr unsigned kPing = 9;
constexpr unsigned kPong = 10;

inline std::string text_frame(std::string_view payload) { return client_frame(kFinal | kText, payload); }

inline std::string close_payload(unsigned code, std::string_view reason = "") {
  std::string payload = {static_cast<char>(code >> 8 & 0xFF), static_cast<char>(code & 0xFF)};
  return payload.append(reason);
}

}  // namespace rkllm_mcp::test
