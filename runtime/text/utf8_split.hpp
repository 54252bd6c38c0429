// Counting the characters of UTF-8, and cutting at their boundaries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

// Moves all whole characters from the front of `pending` to the end of `out`. What can never become a character turns
// into U+FFFD; what stays in `pending` (at most 3 bytes) is the beginning of one.
void append_whole_characters(std::string& out, std::string& pending);

// Whether a byte is no character's first.
constexpr bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// How many characters valid UTF-8 has.
std::size_t characters_in(std::string_view text);

// The beginning of `text` that fits into so many bytes and ends with a whole character.
std::string_view beginning_of(std::string_view text, std::size_t bytes);

// Bytes of the first character of non-empty valid UTF-8.
std::size_t first_character_bytes(std::string_view text);

}  // namespace rkllm_mcp
