// UTF-8 as the simulator needs it: where characters begin and end, and whole ones out of the pieces of tokens.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::sim {

inline constexpr bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// How many bytes the character that `lead` begins has; 0 if no character begins so.
inline constexpr std::size_t character_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0x80) return 1;
  if (byte >= 0xC2 && byte < 0xE0) return 2;
  if (byte >= 0xE0 && byte < 0xF0) return 3;
  if (byte >= 0xF0 && byte < 0xF5) return 4;
  return 0;
}

// Length of the whole character at the start of `text`; 0 if there is none.
inline constexpr std::size_t whole_character(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t length = character_length(text[0]);
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  return length;
}

inline constexpr bool is_whole_text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = whole_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Joins the pieces of tokens into whole characters, as the result callback promises them. One per sequence; not
// thread-safe.
class Utf8Joiner {
 public:
  // The text to deliver for a token: the piece itself if it is `whole`, the whole character if the piece completes one,
  // null while a character is unfinished. Bytes that the next piece does not continue are dropped without a word.
  // `piece` is NUL-terminated; the result is valid until the next call.
  const char* add(std::string_view piece, bool whole) noexcept {
    if (whole) {
      size_ = 0;
      return piece.data();
    }
    if (!continues(piece)) size_ = 0;
    const std::size_t taken = std::min(piece.size(), bytes_.size() - 1 - size_);
    std::copy_n(piece.data(), taken, bytes_.data() + size_);
    size_ += taken;
    if (!is_whole_text({bytes_.data(), size_})) return nullptr;
    bytes_[size_] = '\0';
    size_ = 0;
    return bytes_.data();
  }

 private:
  bool continues(std::string_view piece) const noexcept {
    return size_ > 0 && is_continuation(piece[0]) && size_ < character_length(bytes_[0]);
  }

  std::array<char, 8> bytes_{};
  std::size_t size_ = 0;  // bytes of the unfinished character
};

}  // namespace rkllm_mcp::sim
