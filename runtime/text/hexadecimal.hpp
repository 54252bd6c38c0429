// Bytes as hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Two digits for each byte, in lower case.
inline std::string in_hexadecimal(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kHexDigits[byte >> 4U];
    text += kHexDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace rkllm_mcp
