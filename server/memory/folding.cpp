#include "memory/folding.hpp"

#include "memory/latin_letters.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rkllm_mcp::memory {
namespace {

constexpr char32_t kFirstMark = 0x0300;
constexpr char32_t kLastMark = 0x036f;

bool is_mark(char32_t c) { return c >= kFirstMark && c <= kLastMark; }

// The canonical combining class of the marks that Latin letters have: marks below go before marks above.
int class_of(char32_t mark) {
  switch (mark) {
    case 0x0327:
    case 0x0328: return 202;  // cedilla, ogonek
    case 0x031b: return 216;  // horn
    case 0x0323:
    case 0x0324:
    case 0x0325:
    case 0x032d:
    case 0x032e:
    case 0x0330:
    case 0x0331: return 220;
    default: return 230;
  }
}

// Letters that are no letter with a mark to Unicode, but to those who type without marks.
char plain_of(char32_t c) {
  switch (c) {
    case 0x0111: return 'd';  // đ
    case 0x0142: return 'l';  // ł
    case 0x00f8: return 'o';  // ø
    case 0x0131: return 'i';  // ı
    default: return '\0';
  }
}

// Of valid UTF-8; what is not is taken byte by byte.
std::vector<char32_t> characters_of(std::string_view text) {
  std::vector<char32_t> characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (first < 0xc0 || at + length > text.size()) {
      characters.push_back(first);
      ++at;
      continue;
    }
    char32_t c = first & (0xffU >> (length + 1));
    for (std::size_t next = 1; next < length; ++next) {
      c = (c << 6U) | (static_cast<unsigned char>(text[at + next]) & 0x3fU);
    }
    characters.push_back(c);
    at += length;
  }
  return characters;
}

void append_character(std::string& text, char32_t c) {
  const auto byte = [&text](char32_t value) { text += static_cast<char>(static_cast<unsigned char>(value)); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xc0U | (c >> 6U));
    byte(0x80U | (c & 0x3fU));
  } else if (c < 0x10000) {
    byte(0xe0U | (c >> 12U));
    byte(0x80U | ((c >> 6U) & 0x3fU));
    byte(0x80U | (c & 0x3fU));
  } else {
    byte(0xf0U | (c >> 18U));
    byte(0x80U | ((c >> 12U) & 0x3fU));
    byte(0x80U | ((c >> 6U) & 0x3fU));
    byte(0x80U | (c & 0x3fU));
  }
}

const LatinLetter* letter_of(char32_t c) {
  const auto* const found = std::ranges::lower_bound(kLatinLetters, c, {}, &LatinLetter::letter);
  return found != kLatinLetters.end() && found->letter == c ? found : nullptr;
}

bool is_ascii(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::vector<char32_t> taken_apart(std::string_view word) {
  std::vector<char32_t> parts;
  for (const char32_t c : characters_of(word)) {
    const LatinLetter* const letter = letter_of(c);
    if (letter == nullptr) {
      parts.push_back(c);
      continue;
    }
    parts.push_back(static_cast<char32_t>(letter->base));
    parts.push_back(letter->first_mark);
    if (letter->second_mark != 0) parts.push_back(letter->second_mark);
  }
  return parts;
}

}  // namespace

Spellings spellings_of(std::string_view word) {
  if (is_ascii(word)) return {std::string(word), std::string(word)};
  std::vector<char32_t> parts = taken_apart(word);
  for (auto at = parts.begin(); at != parts.end();) {
    const auto marks = std::find_if(at, parts.end(), is_mark);
    const auto end = std::find_if_not(marks, parts.end(), is_mark);
    std::stable_sort(marks, end, [](char32_t one, char32_t other) { return class_of(one) < class_of(other); });
    at = end;
  }
  Spellings spellings;
  for (const char32_t c : parts) {
    append_character(spellings.canonical, c);
    if (is_mark(c)) continue;
    const char plain = plain_of(c);
    append_character(spellings.folded, plain == '\0' ? c : static_cast<char32_t>(plain));
  }
  return spellings;
}

std::string canonical(std::string_view word) { return spellings_of(word).canonical; }

std::string folded(std::string_view word) { return spellings_of(word).folded; }

std::string_view searched_part(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{256} << 10U;
  return beginning_of(text, kMost);
}

}  // namespace rkllm_mcp::memory
