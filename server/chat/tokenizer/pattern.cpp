#define PCRE2_CODE_UNIT_WIDTH 8
#include "chat/tokenizer/pattern.hpp"

#include <pcre2.h>

#include <array>
#include <stdexcept>

namespace rkllm_mcp::chat {
namespace {

std::runtime_error failure(const std::string& what, int code) {
  std::array<unsigned char, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return std::runtime_error(what + ": " + reinterpret_cast<const char*>(text.data()));
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

// The length of \d, or of \x{41} and others with their braces.
std::size_t escape_bytes(std::string_view rest) {
  constexpr std::string_view kWithBraces = "opPx";
  const bool has_braces = rest.size() > 2 && rest[2] == '{' && kWithBraces.find(rest[1]) != std::string_view::npos;
  const std::size_t end = has_braces ? rest.find('}') : std::string_view::npos;
  return end == std::string_view::npos ? 2 : end + 1;
}

// Whether \p{name} is a kind of characters, "L" or "Lu", which is the same in both. A script is not: PCRE2 has marks
// of several in each of them; and a few have names of two letters, like Yi.
bool is_kind(std::string_view name) {
  constexpr std::string_view kKinds = "CLMNPSZ";
  const bool begins = !name.empty() && kKinds.find(name.front()) != std::string_view::npos;
  return begins && (name.size() == 1 || (name.size() == 2 && name[1] >= 'a' && name[1] <= 'z'));
}

// Each of these gives what Oniguruma reads otherwise at the beginning of `rest`; nothing, if nothing is known there.

std::string_view other_escape(std::string_view rest) {
  // \w and \b have other letters in them, \v is one character, \Q begins nothing.
  constexpr std::string_view kOthers = "bBhHvVwWCEgGKQRXZ";
  if (rest.size() < 2) return {};
  if (kOthers.find(rest[1]) != std::string_view::npos) return rest.substr(0, 2);
  if (rest[1] != 'p' && rest[1] != 'P') return {};
  if (!rest.substr(2).starts_with('{')) return rest.substr(0, 2);
  const std::size_t end = rest.find('}');
  if (end == std::string_view::npos) return {};
  std::string_view name = rest.substr(3, end - 3);
  if (name.starts_with('^')) name.remove_prefix(1);
  return is_kind(name) ? std::string_view() : rest.substr(0, end + 1);
}

// {1,3}+ and {2}? repeat what is repeated, {,3} begins at 0, and { 1, 3 } is text to Oniguruma and a repetition to
// PCRE2 since 10.43.
std::string_view other_repetition(std::string_view rest) {
  const std::size_t end = rest.find('}');
  if (end == std::string_view::npos) return {};
  std::string counts(rest.substr(1, end - 1));
  const bool has_blanks = std::erase_if(counts, [](char each) { return each == ' ' || each == '\t'; }) > 0;
  const std::size_t comma = counts.find(',');
  const bool is_repetition = counts.find_first_of("0123456789") != std::string::npos &&
                             counts.find_first_not_of("0123456789,") == std::string::npos && comma == counts.rfind(',');
  if (!is_repetition) return {};
  if (comma == 0 || has_blanks) return rest.substr(0, end + 1);
  const std::string_view behind = rest.substr(end + 1);
  const bool repeats_again = behind.starts_with('+') || (behind.starts_with('?') && comma == std::string::npos);
  return repeats_again ? rest.substr(0, end + 2) : std::string_view();
}

// Oniguruma takes the branches behind (?i) into a group with it: a(?i)b|c is a(?i:b|c) there, and a(?i:b)|(?i:c) here.
// At the very beginning it is the same.
std::string_view other_group(std::string_view rest, bool is_at_beginning) {
  if (rest.starts_with("(*")) return rest.substr(0, 2);
  if (!rest.starts_with("(?")) return {};
  const std::size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", 2);
  if (end == std::string_view::npos || (rest[end] != ')' && rest[end] != ':')) return {};
  const bool is_other = rest.substr(0, end).find_first_of("mx") != std::string_view::npos;
  if (is_other) return rest.substr(0, end);
  return rest[end] == ')' && !is_at_beginning ? rest.substr(0, end + 1) : std::string_view();
}

std::string_view other_outside_class(std::string_view rest, bool is_at_beginning) {
  switch (rest.front()) {
    case '^':
    case '$': return rest.substr(0, 1);
    case '(': return other_group(rest, is_at_beginning);
    case '{': return other_repetition(rest);
    default: return {};
  }
}

// A wrong count must not be told as an exact one.
void refuse_what_differs(std::string_view expression) {
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    std::string_view other;
    if (rest.front() == '\\') {
      other = other_escape(rest);
      at += escape_bytes(rest) - 1;
    } else if (in_class) {
      if (rest.starts_with("&&") || rest.starts_with('[')) other = rest.substr(0, 1);
      in_class = rest.front() != ']';
    } else if (rest.front() == '[') {
      in_class = true;
      if (rest.starts_with("[^")) ++at;
      if (expression.substr(at + 1).starts_with(']')) ++at;  // there it is a character like others
    } else {
      other = other_outside_class(rest, at == 0);
    }
    if (!other.empty()) {
      throw std::runtime_error("an expression has " + std::string(other) + ", which is not understood here");
    }
  }
}

}  // namespace

Pattern::Pattern(const std::string& expression)
    : code_(nullptr, [](void* code) { pcre2_code_free(static_cast<pcre2_code*>(code)); }) {
  refuse_what_differs(expression);
  int error = 0;
  PCRE2_SIZE place = 0;
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
  pcre2_code* const code = pcre2_compile(units(expression), expression.size(), kOptions, &error, &place, nullptr);
  if (code == nullptr) {
    throw failure("the expression is wrong at its byte " + std::to_string(place + 1), error);
  }
  code_.reset(code);
  std::uint32_t finds_nothing = 0;
  pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &finds_nothing);
  if (finds_nothing != 0)
    throw std::runtime_error("an expression may find an empty text, which is not understood here");
}

Pattern Pattern::of_text(std::string_view text) {
  std::string expression;
  for (const char character : text) {
    // Whatever is no letter or digit may be escaped; bytes of other alphabets are letters here.
    const auto byte = static_cast<unsigned char>(character);
    const bool is_plain =
        byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z');
    if (!is_plain) expression += '\\';
    expression += character;
  }
  return Pattern(expression);
}

void Pattern::each_piece(std::string_view text,
                         const std::function<void(std::string_view piece, bool is_match)>& take) const {
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> found(
      pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  if (!found) throw std::bad_alloc();
  std::size_t taken = 0;
  for (std::size_t from = 0; from < text.size();) {
    // The first call looks whether the text is UTF-8; the others need not.
    const std::uint32_t options = from > 0 ? PCRE2_NO_UTF_CHECK : 0;
    const int result = pcre2_match(code, units(text), text.size(), from, options, found.get(), nullptr);
    if (result == PCRE2_ERROR_NOMATCH) break;
    if (result < 0) throw failure("a text cannot be divided", result);
    const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(found.get());
    const std::size_t begin = ends[0];
    const std::size_t end = ends[1];
    if (end <= begin) throw std::runtime_error("an expression has found an empty text");
    if (begin > taken) take(text.substr(taken, begin - taken), false);
    take(text.substr(begin, end - begin), true);
    taken = from = end;
  }
  if (taken < text.size()) take(text.substr(taken), false);
}

}  // namespace rkllm_mcp::chat
