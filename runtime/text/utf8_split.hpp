// Cutting byte streams at character boundaries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Moves all whole characters from the front of `pending` to the end of `out`. What can never become a character turns
// into U+FFFD; what stays in `pending` (at most 3 bytes) is the beginning of one.
void append_whole_characters(std::string& out, std::string& pending);

// Bytes of the first character of non-empty valid UTF-8.
std::size_t first_character_bytes(std::string_view text);

}  // namespace rkllm_mcp
