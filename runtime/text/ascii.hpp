// Characters of ASCII with a meaning of their own: blanks around a text, line ends, hexadecimal digits.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// `text` without blanks, tabs and line ends at both ends; empty if there is nothing else in it.
constexpr std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

// `text` up to its first line end.
inline std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find_first_of("\r\n"))); }

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
