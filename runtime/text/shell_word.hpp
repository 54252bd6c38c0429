// Words of commands that are proposed to a person, who may paste them into a shell.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// As it is, or in single quotes where a shell would take some of it for something else.
inline std::string shell_word(std::string_view word) {
  static constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char character) {
    return (static_cast<unsigned char>(character) & 0x80U) != 0 || kPlain.find(character) != std::string_view::npos;
  });
  if (is_plain) return std::string(word);
  std::string quoted = "'";
  for (const char character : word) quoted += character == '\'' ? std::string("'\\''") : std::string(1, character);
  return quoted + "'";
}

}  // namespace rkllm_mcp
