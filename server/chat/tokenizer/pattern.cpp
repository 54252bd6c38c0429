#define PCRE2_CODE_UNIT_WIDTH 8
#include "chat/tokenizer/pattern.hpp"

#include "text/utf8_split.hpp"

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

}  // namespace

Pattern::Pattern(const std::string& expression) {
  int error = 0;
  PCRE2_SIZE place = 0;
  pcre2_code* const code =
      pcre2_compile(units(expression), expression.size(), PCRE2_UTF | PCRE2_UCP, &error, &place, nullptr);
  if (code == nullptr) {
    throw failure("the expression is wrong at its byte " + std::to_string(place + 1), error);
  }
  code_ = std::shared_ptr<const void>(
      code, [](const void* held) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(held))); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // only makes it faster
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
    if (end <= begin) {  // empty: on behind the next character
      if (begin >= text.size()) break;
      from = begin + first_character_bytes(text.substr(begin));
      continue;
    }
    if (begin > taken) take(text.substr(taken, begin - taken), false);
    take(text.substr(begin, end - begin), true);
    taken = from = end;
  }
  if (taken < text.size()) take(text.substr(taken), false);
}

}  // namespace rkllm_mcp::chat
