// UTF-8, strictly as RFC 3629 says: no overlong forms, no surrogates, nothing above U+10FFFF. Whether text is that, how
// many characters it has, and where it can be cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Text arrives in pieces (WebSocket fragments, tokens that split a character), so the check can stop and go on
// anywhere.
class Utf8Validator {
 public:
  // Checks the next bytes. False as soon as nothing that follows could make the text valid; it stays false until reset.
  bool feed(std::string_view bytes);
  // All bytes so far are valid and the last character is whole.
  bool complete() const { return valid_ && needed_ == 0; }
  void reset() { *this = {}; }

 private:
  bool start(std::uint8_t byte);  // the first byte of a character that is not ASCII

  std::uint8_t needed_ = 0;    // continuation bytes still to come
  std::uint8_t lower_ = 0x80;  // what the next continuation byte may be, at least and at most
  std::uint8_t upper_ = 0xBF;
  bool valid_ = true;
};

bool is_valid_utf8(std::string_view text);

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
