#include "chat/assistant/profile/language.hpp"

#include <rkllm_mcp/lower_case.hpp>

#include <utf8proc.h>

#include <cstdio>  // compact_lang_det.h needs it, and does not include it

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace rkllm_mcp::chat {
namespace {

// Letters that no other language of the Latin script has so often: ă, đ, ĩ, ũ, ơ, ư with their capitals, the letters
// with two marks (U+1EA0 to U+1EF9), and in texts that were decomposed the horn, the hook above and the dot below.
bool is_vietnamese(utf8proc_int32_t letter) {
  constexpr std::array<utf8proc_int32_t, 15> kOthers = {0x102, 0x103, 0x110, 0x111, 0x128, 0x129, 0x168, 0x169,
                                                        0x1a0, 0x1a1, 0x1af, 0x1b0, 0x309, 0x31b, 0x323};
  return (letter >= 0x1ea0 && letter <= 0x1ef9) || std::ranges::find(kOthers, letter) != kOthers.end();
}

// How many words of a text have such letters. Texts of other languages may have them, too: in names, which begin with a
// capital, and in a single word for something Vietnamese.
struct OwnWords {
  std::size_t names = 0;
  std::size_t others = 0;
};

// Removes the first character of `text`, which is not empty, and returns it. Where no valid character begins, removes
// one byte and returns nothing.
std::optional<utf8proc_int32_t> take_character(std::string_view& text) {
  utf8proc_int32_t character = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &character);
  text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
  return length > 0 ? std::optional(character) : std::nullopt;
}

// The beginning and the end of `text`, each long enough to tell its language; no more, since the event loop waits for
// the result. The end is read because a question often stands behind the text that it is about. Returns valid UTF-8
// without control characters.
std::string telling_part(std::string_view text) {
  constexpr std::size_t kEnough = 4096;
  std::string whole;
  if (text.size() > 2 * kEnough) {
    std::string_view end = text.substr(text.size() - kEnough);
    // Up to the first space: the rest of a cut word is no word, and the rest of a cut name would not look like a name.
    end.remove_prefix(std::min(end.find(' '), end.size()));
    text = whole.append(text.substr(0, kEnough)).append(end);
  }
  std::string part;
  while (!text.empty()) {
    const std::string_view rest = text;
    const auto character = take_character(text);
    const auto category = character ? utf8proc_category(*character) : UTF8PROC_CATEGORY_CN;
    const bool is_shown = category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CN;
    part.append(is_shown ? rest.substr(0, rest.size() - text.size()) : std::string_view(" "));
  }
  return part;
}

// `text` is valid UTF-8.
OwnWords own_words(std::string_view text) {
  OwnWords found;
  bool is_in_word = false;
  bool is_name = false;
  bool is_own = false;
  while (!text.empty()) {
    const utf8proc_int32_t letter = take_character(text).value_or(0);
    const auto category = utf8proc_category(letter);
    const bool was_in_word = is_in_word;
    is_in_word = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME;  // letters and marks
    if (is_in_word && !was_in_word) {
      is_name = category == UTF8PROC_CATEGORY_LU;
      is_own = false;
    }
    if (!is_in_word || is_own || !is_vietnamese(letter)) continue;
    is_own = true;
    ++(is_name ? found.names : found.others);
  }
  return found;
}

// What a longer text is written in, by the frequency of its groups of letters. `text` is valid UTF-8.
enum class Frequency { kTellsNothing, kVietnamese, kEnglish, kAnother };

Frequency frequency_in(std::string_view text) {
  constexpr std::size_t kShortest = 80;  // bytes; of shorter texts letters and syllables tell more
  if (text.size() < kShortest) return Frequency::kTellsNothing;
  const CLD2::CLDHints hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  std::array<CLD2::Language, 3> languages{};
  std::array<int, 3> percents{};
  std::array<double, 3> scores{};
  int letters = 0;
  int valid = 0;
  bool is_reliable = false;
  const auto found = CLD2::ExtDetectLanguageSummaryCheckUTF8(text.data(), static_cast<int>(text.size()), true, &hints,
                                                             0, languages.data(), percents.data(), scores.data(),
                                                             nullptr, &letters, &is_reliable, &valid);
  if (!is_reliable || found == CLD2::UNKNOWN_LANGUAGE) return Frequency::kTellsNothing;
  if (found == CLD2::VIETNAMESE) return Frequency::kVietnamese;
  return found == CLD2::ENGLISH ? Frequency::kEnglish : Frequency::kAnother;
}

// Syllables of people who type without marks. None of them is an English word.
constexpr std::array<std::string_view, 24> kBareSyllables = {
    "toi", "khong", "duoc", "nguoi", "nhung", "nhu",   "rang", "danh", "ngay", "nhieu", "bao", "lam",
    "sao", "nao",   "bi",   "dau",   "cua",   "trong", "phai", "nen",  "thi",  "viec",  "gi",  "giup"};

// Words of ASCII letters, in lower case.
template <class Take>
void for_each_word(std::string_view text, const Take& take) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) take(word);
    word.clear();
  };
  for (const char each : text) {
    const char letter = in_lower_case(each);
    if (letter >= 'a' && letter <= 'z') {
      word.push_back(letter);
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
  const std::string part = telling_part(text);
  const OwnWords own = own_words(part);
  if (own.others > 1) return Language::kVietnamese;
  switch (frequency_in(part)) {
    case Frequency::kVietnamese: return Language::kVietnamese;
    case Frequency::kEnglish: return Language::kEnglish;
    case Frequency::kAnother: break;
    case Frequency::kTellsNothing:
      if (own.names + own.others > 0) return Language::kVietnamese;
      break;
  }
  std::size_t words = 0;
  std::size_t bare = 0;
  for_each_word(part, [&](const std::string& word) {
    ++words;
    if (std::ranges::find(kBareSyllables, word) != kBareSyllables.end()) ++bare;
  });
  if (words == 0) return unless_known;
  constexpr std::size_t kAtLeast = 2;
  constexpr std::size_t kOfThree = 3;
  return bare >= kAtLeast && bare * kOfThree >= words ? Language::kVietnamese : Language::kEnglish;
}

}  // namespace rkllm_mcp::chat
