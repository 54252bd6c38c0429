#include "read/clean_text.hpp"

#include <cstdint>
#include <cstdio>

namespace bindgen {
namespace {

constexpr std::uint32_t kNoCharacter = 0xFFFFFFFF;

struct Character {
  std::uint32_t code;  // kNoCharacter: these bytes are no UTF-8
  std::size_t bytes;   // at least 1
};

// The character that the text, which is not empty, begins with.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kNoCharacter, 1};
  std::uint32_t code = lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0U) != 0x80) return {kNoCharacter, i};
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const bool is_overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return {is_overlong || is_surrogate || code > 0x10FFFF ? kNoCharacter : code, size};
}

bool is_control(std::uint32_t code) {
  if (code == '\t' || code == '\n' || code == '\r') return false;
  // Of directions, lines and paragraphs; blanks without a width, and signs of mathematics that are not shown.
  const bool is_unseen = (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0x200B ||
                         code == 0x200E || code == 0x200F || code == 0x061C;
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || is_unseen;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.code == kNoCharacter) {
      result += "\xEF\xBF\xBD";  // U+FFFD
    } else if (is_control(next.code)) {
      result += ' ';
    } else {
      result += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return result;
}

std::string with_escapes(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.code != kNoCharacter && is_control(next.code)) {
      char escape[16];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(next.code));
      result += escape;
    } else {
      result += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character next = first_character(text);
    if (next.code == kNoCharacter) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::size_t first_unclean(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (next.code == kNoCharacter || is_control(next.code)) return at;
    at += next.bytes;
  }
  return std::string_view::npos;
}

}  // namespace bindgen
