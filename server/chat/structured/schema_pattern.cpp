#define PCRE2_CODE_UNIT_WIDTH 8
#include "chat/structured/schema_pattern.hpp"

#include <pcre2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace rkllm_mcp::chat {
namespace {

// Some milliseconds; what people write needs a few hundred.
constexpr std::uint32_t kMostStepsOfMatch = 20'000;

PCRE2_SPTR pattern_units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

[[noreturn]] void refuse_part(std::string_view part) {
  throw std::runtime_error("\"" + std::string(part) + "\" cannot be read here");
}

bool is_letter_or_digit(char character) {
  const auto lower = static_cast<unsigned char>(character) | 0x20U;
  return (character >= '0' && character <= '9') || (lower >= 'a' && lower <= 'z');
}

// What the two engines read otherwise, or only one of them reads: whoever relies on it gets no wrong answer.
void refuse_dialects(std::string_view expression) {
  constexpr std::string_view kEscapes = "dDwWsSbBnrtfcxupPk123456789";  // not \v: a set of characters here
  constexpr std::string_view kGroups = ":=!<";                          // behind "(?"
  bool in_class = false;
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const std::string_view rest = expression.substr(at);
    if (rest.front() == '\\') {
      const bool is_known =
          rest.size() < 2 || !is_letter_or_digit(rest[1]) || kEscapes.find(rest[1]) != std::string_view::npos;
      if (!is_known) refuse_part(rest.substr(0, 2));
      ++at;
    } else if (in_class) {
      for (const std::string_view posix : {"[:", "[.", "[="}) {
        if (rest.starts_with(posix)) refuse_part(posix);
      }
      in_class = rest.front() != ']';
    } else if (rest.front() == '[') {
      in_class = true;
    } else if (rest.starts_with("(*") || rest.starts_with("{,")) {
      refuse_part(rest.substr(0, 2));
    } else if (rest.starts_with("(?") && (rest.size() < 3 || kGroups.find(rest[2]) == std::string_view::npos)) {
      refuse_part(rest.substr(0, 3));
    }
  }
}

template <typename Value, typename Free>
auto owned(Value* value, Free free) {
  if (value == nullptr) throw std::bad_alloc();
  return std::unique_ptr<Value, Free>(value, free);
}

}  // namespace

SchemaPattern::SchemaPattern(std::string_view expression)
    : code_(nullptr, [](void* held) { pcre2_code_free(static_cast<pcre2_code*>(held)); }) {
  refuse_dialects(expression);
  const auto context = owned(pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_ANYCRLF);  // what a dot does not find
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_ALLOW_EMPTY_CLASS |
                                     PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* const code =
      pcre2_compile(pattern_units(expression), expression.size(), kOptions, &error, &place, context.get());
  if (code == nullptr) {
    std::array<unsigned char, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    throw std::runtime_error("is wrong at its byte " + std::to_string(place + 1) + ": " +
                             reinterpret_cast<const char*>(text.data()));
  }
  code_.reset(code);
}

SchemaPattern::Match SchemaPattern::find_in(std::string_view text) const {
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const auto found = owned(pcre2_match_data_create_from_pattern(code, nullptr), pcre2_match_data_free);
  const auto context = owned(pcre2_match_context_create(nullptr), pcre2_match_context_free);
  pcre2_set_match_limit(context.get(), kMostStepsOfMatch);
  const int result = pcre2_match(code, pattern_units(text), text.size(), 0, 0, found.get(), context.get());
  if (result == PCRE2_ERROR_NOMATCH) return Match::kNotFound;
  return result < 0 ? Match::kTooHard : Match::kFound;
}

}  // namespace rkllm_mcp::chat
