// Blanks, tabs and ends of lines.
#pragma once

#include <string_view>

namespace rkllm_mcp {

// `text` without blanks, tabs and line ends at both ends; empty if there is nothing else in it.
constexpr std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace rkllm_mcp
