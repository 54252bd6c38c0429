// Joins the pieces of tokens into whole characters, as the result callback promises them.
#pragma once

#include "model/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace rkllm_mcp::sim {

// One per sequence; not thread-safe.
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
