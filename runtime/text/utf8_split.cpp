#include "text/utf8_split.hpp"

#include "text/utf8.hpp"

#include <algorithm>

namespace rkllm_mcp {
namespace {

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
