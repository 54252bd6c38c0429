// How sizes, words of commands, and what others have written are shown to people. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// "2.1 GB", "313.0 MB", "12 bytes": of thousands, as disks and hubs count.
inline std::string shown_bytes(std::int64_t bytes) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMegabyte = 1e6;
  const auto size = static_cast<double>(bytes);
  std::array<char, 32> text{};
  if (size >= kGigabyte - kMegabyte / 20) {  // what would be "1000.0 MB" is one
    std::snprintf(text.data(), text.size(), "%.1f GB", size / kGigabyte);
  } else if (size >= kMegabyte) {
    std::snprintf(text.data(), text.size(), "%.1f MB", size / kMegabyte);
  } else {
    std::snprintf(text.data(), text.size(), "%.0f bytes", size);
  }
  return text.data();
}

// A word of a command that is proposed to a person, who may paste it into a shell: as it is, or in single quotes where
// a shell would take some of it for something else.
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

// The length in bytes of the control character that `byte` completes, behind the UTF-8 text `before`; 0: it completes
// none. U+0080 to U+009F, of two bytes each, are control characters, too, and terminals obey them.
constexpr std::size_t control_character_bytes(std::string_view before, char byte) {
  const auto code = static_cast<unsigned char>(byte);
  if (code < 0x20 || code == 0x7F) return 1;
  return code >= 0x80 && code < 0xA0 && before.ends_with('\xC2') ? 2 : 0;
}

// UTF-8 that somebody else has written, for a line of a log or a terminal: with a blank for each control character, and
// so without further lines.
inline std::string in_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (const char each : text) {
    const std::size_t control = control_character_bytes(line, each);
    if (control == 2) line.pop_back();
    line += control != 0 ? ' ' : each;
  }
  return line;
}

}  // namespace rkllm_mcp
