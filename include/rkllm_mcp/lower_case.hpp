// The letters A to Z as a to z, whatever the locale; every other byte stays.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace rkllm_mcp {

constexpr char in_lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) { return in_lower_case(letter); });
  return lower;
}

}  // namespace rkllm_mcp
