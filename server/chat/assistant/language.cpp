#include "chat/assistant/language.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace rkllm_mcp::chat {
namespace {

// Letters that no other language of the Latin script has so often: ă, đ, ĩ, ũ, ơ, ư with their capitals, and in texts
// that were decomposed the horn, the hook above and the dot below.
constexpr std::array<std::string_view, 15> kVietnameseLetters = {"\u0102", "\u0103", "\u0110", "\u0111", "\u0128",
                                                                 "\u0129", "\u0168", "\u0169", "\u01a0", "\u01a1",
                                                                 "\u01af", "\u01b0", "\u031b", "\u0309", "\u0323"};

// U+1EA0 to U+1EF9, the letters with two marks: all of them are Vietnamese.
bool has_letter_with_two_marks(std::string_view text) {
  for (std::size_t at = 0; at + 2 < text.size(); ++at) {
    if (text[at] != '\xe1') continue;
    if (text[at + 1] == '\xbb' && text[at + 2] <= '\xb9') return true;
    if (text[at + 1] == '\xba' && text[at + 2] >= '\xa0') return true;
  }
  return false;
}

// Syllables of people who type without marks. None of them is an English word.
constexpr std::array<std::string_view, 24> kBareSyllables = {
    "toi", "khong", "duoc", "nguoi", "nhung", "nhu",   "rang", "danh", "ngay", "nhieu", "bao", "lam",
    "sao", "nao",   "bi",   "dau",   "cua",   "trong", "phai", "nen",  "thi",  "viec",  "gi",  "giup"};

// Words of ASCII letters, in small letters.
template <class Take>
void for_each_word(std::string_view text, const Take& take) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) take(word);
    word.clear();
  };
  for (const char letter : text) {
    if (letter >= 'a' && letter <= 'z') {
      word.push_back(letter);
    } else if (letter >= 'A' && letter <= 'Z') {
      word.push_back(static_cast<char>(letter - 'A' + 'a'));
    } else {
      end_word();
    }
  }
  end_word();
}

}  // namespace

std::string_view code_of(Language language) { return language == Language::kVietnamese ? "vi" : "en"; }

std::optional<Language> language_of_code(std::string_view code) {
  if (code == "vi") return Language::kVietnamese;
  if (code == "en") return Language::kEnglish;
  return std::nullopt;
}

Language language_of(std::string_view text, Language unless_known) {
  const bool has_own_letter = std::ranges::any_of(
      kVietnameseLetters, [text](std::string_view letter) { return text.find(letter) != std::string_view::npos; });
  if (has_own_letter || has_letter_with_two_marks(text)) return Language::kVietnamese;
  std::size_t words = 0;
  std::size_t bare = 0;
  for_each_word(text, [&](const std::string& word) {
    ++words;
    if (std::ranges::find(kBareSyllables, word) != kBareSyllables.end()) ++bare;
  });
  if (words == 0) return unless_known;
  constexpr std::size_t kAtLeast = 2;
  constexpr std::size_t kOfThree = 3;
  return bare >= kAtLeast && bare * kOfThree >= words ? Language::kVietnamese : Language::kEnglish;
}

}  // namespace rkllm_mcp::chat
