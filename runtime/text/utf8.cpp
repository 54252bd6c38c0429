#include "text/utf8.hpp"

#include <algorithm>
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

// Bytes of the character that begins with `lead`; 0 if none can.
std::size_t bytes_announced_by(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Can `bytes`, shorter than the character it announces, still be completed? Tried with the lowest and highest rest.
bool can_be_completed(std::string_view bytes, std::size_t announced) {
  for (const char filler : {'\x80', '\xBF'}) {
    std::string whole(bytes);
    whole.resize(announced, filler);
    if (is_valid_utf8(whole)) return true;
  }
  return false;
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

void append_whole_characters(std::string& out, std::string& pending) {
  std::size_t at = 0;
  while (at < pending.size()) {
    const std::string_view rest = std::string_view(pending).substr(at);
    const std::size_t announced = bytes_announced_by(static_cast<unsigned char>(rest.front()));
    if (announced > rest.size() && can_be_completed(rest, announced)) break;
    if (announced != 0 && announced <= rest.size() && is_valid_utf8(rest.substr(0, announced))) {
      out += rest.substr(0, announced);
      at += announced;
    } else {
      out += kReplacementCharacter;
      ++at;
    }
  }
  pending.erase(0, at);
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string_view beginning_of(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && continues_character(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

std::size_t first_character_bytes(std::string_view text) {
  return std::max<std::size_t>(1, bytes_announced_by(static_cast<unsigned char>(text.front())));
}

}  // namespace rkllm_mcp
