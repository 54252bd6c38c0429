#include "text/utf8.hpp"

#include <cstddef>
#include <cstring>

namespace rkllm_mcp {

namespace {

// How many bytes at the start of `text` are ASCII, found eight at a time.
std::size_t ascii_prefix(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  for (std::uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<std::uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

bool Utf8Validator::start(std::uint8_t byte) {
  lower_ = 0x80;
  upper_ = 0xBF;
  if (byte >= 0xC2 && byte <= 0xDF) {
    needed_ = 1;
  } else if (byte >= 0xE0 && byte <= 0xEF) {
    needed_ = 2;
    if (byte == 0xE0) lower_ = 0xA0;  // shorter forms exist below
    if (byte == 0xED) upper_ = 0x9F;  // surrogates above
  } else if (byte >= 0xF0 && byte <= 0xF4) {
    needed_ = 3;
    if (byte == 0xF0) lower_ = 0x90;
    if (byte == 0xF4) upper_ = 0x8F;  // beyond U+10FFFF above
  } else {
    return false;
  }
  return true;
}

bool Utf8Validator::feed(std::string_view bytes) {
  if (!valid_) return false;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (needed_ == 0) {
      at += ascii_prefix(bytes.substr(at));
      if (at == bytes.size()) break;
      valid_ = start(static_cast<std::uint8_t>(bytes[at++]));
    } else {
      const auto byte = static_cast<std::uint8_t>(bytes[at++]);
      valid_ = byte >= lower_ && byte <= upper_;
      --needed_;
      lower_ = 0x80;
      upper_ = 0xBF;
    }
    if (!valid_) return false;
  }
  return true;
}

bool is_valid_utf8(std::string_view text) {
  Utf8Validator validator;
  return validator.feed(text) && validator.complete();
}

}  // namespace rkllm_mcp
