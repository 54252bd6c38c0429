#define PCRE2_CODE_UNIT_WIDTH 8
#include "chat/structured/schema_pattern.hpp"

#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

// Longer texts fit no pattern: each character may be the beginning of a match, from which all others are looked at.
constexpr std::size_t kLongestText = 4096;
constexpr std::uint32_t kMostHeap = 4096;  // kB
constexpr std::uint32_t kMostGroups = 100;

PCRE2_SPTR pattern_units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

[[noreturn]] void refuse_part(std::string_view part) {
  throw std::runtime_error("\"" + std::string(part) + "\" cannot be read here");
}

bool is_decimal_digit(char character) { return character >= '0' && character <= '9'; }
bool is_letter_or_digit(char character) {
  const auto lower = static_cast<unsigned char>(character) | 0x20U;
  return is_decimal_digit(character) || (lower >= 'a' && lower <= 'z');
}

// Writes an expression of ECMAScript as one that PCRE2 reads in the same way. What the two read otherwise, or only one
// of them reads, is refused: whoever relies on it gets no wrong answer.
class Translation {
 public:
  explicit Translation(std::string_view expression) : rest_(expression) {
    while (!rest_.empty()) next();
  }
  const std::string& text() const { return text_; }

 private:
  void next() {
    const char character = rest_.front();
    const bool follows_quantifier = std::exchange(is_behind_quantifier_, false);
    if (character == '\\') return escape();
    if (in_class_) return in_class();
    switch (character) {
      case '[': in_class_ = true; return take(1);
      case '.': return take_as("[^\\n\\r\\u2028\\u2029]");
      case '(': return group();
      case '{': return counted();
      case '+':
      case '*':
      case '?':
        // A sign behind a quantifier ("a++") has a meaning in PCRE2 only: it makes the quantifier possessive.
        if (follows_quantifier && character != '?') refuse_part(rest_.substr(0, 1));
        is_behind_quantifier_ = true;
        return take(1);
      default: return take(1);
    }
  }

  void escape() {
    constexpr std::string_view kKnown = "dDwWsSbBnrtfcxupP";  // not \v, a set of characters here; nor what refers back
    if (rest_.size() < 2) return take(1);
    const char what = rest_[1];
    const bool has_brace = rest_.size() > 2 && rest_[2] == '{';
    const bool is_known = !is_letter_or_digit(what) || kKnown.find(what) != std::string_view::npos;
    if (!is_known || (what == 'u' && has_brace) || ((what == 'p' || what == 'P') && !has_brace))
      refuse_part(rest_.substr(0, 2));
    take(2);
    if (has_brace && (what == 'p' || what == 'P')) take(std::min(rest_.find('}'), rest_.size() - 1) + 1);
  }

  void in_class() {
    for (const std::string_view posix : {"[:", "[.", "[="}) {
      if (rest_.starts_with(posix)) refuse_part(posix);
    }
    in_class_ = rest_.front() != ']';
    take(1);
  }

  void group() {
    if (rest_.starts_with("(*")) refuse_part("(*");
    if (!rest_.starts_with("(?")) return take(1);
    constexpr std::string_view kKinds = ":=!<";
    if (rest_.size() < 3 || kKinds.find(rest_[2]) == std::string_view::npos) refuse_part(rest_.substr(0, 3));
    take(3);
  }

  // "{2}", "{2,}" or "{2,5}".
  void counted() {
    std::size_t at = 1;
    const auto digits = [&] {
      const std::size_t from = at;
      while (at < rest_.size() && is_decimal_digit(rest_[at])) ++at;
      return at > from;
    };
    bool is_count = digits();
    if (at < rest_.size() && rest_[at] == ',') {
      ++at;
      digits();
    }
    is_count = is_count && at < rest_.size() && rest_[at] == '}';
    if (!is_count) refuse_part(rest_.substr(0, 1));
    take(at + 1);
    is_behind_quantifier_ = true;
  }

  void take(std::size_t bytes) {
    text_ += rest_.substr(0, bytes);
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }
  void take_as(std::string_view text) {
    text_ += text;
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string text_;
  bool in_class_ = false;
  bool is_behind_quantifier_ = false;
};

// Before each item of the pattern is tried. How much may be looked at there depends on what is left of the text.
int count_step(pcre2_callout_block* at, void* left) {
  std::size_t& steps = *static_cast<std::size_t*>(left);
  constexpr std::size_t kCharactersOfStep = 16;
  const std::size_t cost = 1 + (at->subject_length - at->current_position) / kCharactersOfStep;
  if (steps < cost) return PCRE2_ERROR_CALLOUT;
  steps -= cost;
  return 0;
}

template <typename Value, typename Free>
auto owned(Value* value, Free free) {
  if (value == nullptr) throw std::bad_alloc();
  return std::unique_ptr<Value, Free>(value, free);
}

}  // namespace

SchemaPattern::SchemaPattern(std::string_view expression)
    : code_(nullptr, [](void* held) { pcre2_code_free(static_cast<pcre2_code*>(held)); }) {
  const std::string translated = Translation(expression).text();
  const auto context = owned(pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                                     PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* const code =
      pcre2_compile(pattern_units(translated), translated.size(), kOptions, &error, &place, context.get());
  if (code == nullptr) {
    std::array<unsigned char, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    throw std::runtime_error(std::string("is wrong: ") + reinterpret_cast<const char*>(text.data()));
  }
  code_.reset(code);
  std::uint32_t groups = 0;
  pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
  if (groups > kMostGroups) throw std::runtime_error("has more than " + std::to_string(kMostGroups) + " groups");
}

SchemaPattern::Match SchemaPattern::find_in(std::string_view text, std::size_t& steps) const {
  if (text.size() > kLongestText) return Match::kTooHard;
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const auto found = owned(pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  const auto context = owned(pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_heap_limit(context.get(), kMostHeap);
  pcre2_set_callout(context.get(), &count_step, &steps);
  const int result = pcre2_match(code, pattern_units(text), text.size(), 0, 0, found.get(), context.get());
  if (result == PCRE2_ERROR_NOMATCH) return Match::kNotFound;
  return result < 0 ? Match::kTooHard : Match::kFound;
}

}  // namespace rkllm_mcp::chat
