// Bytes as hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Two digits for each byte, in lower case.
inline std::string in_hexadecimal(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xfU];
  }
  return text;
}

}  // namespace rkllm_mcp
