#include "chat/tokenizer/added_tokens.hpp"

#include "text/utf8.hpp"

#include <utf8proc.h>

#include <algorithm>

namespace rkllm_mcp::chat {
namespace {

// Whether the first character is white space.
bool begins_with_space(std::string_view text) {
  utf8proc_int32_t character = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &character);
  constexpr utf8proc_int32_t kNextLine = 0x85;
  if ((character >= '\t' && character <= '\r') || character == kNextLine) return true;
  const utf8proc_category_t category = utf8proc_category(character);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

std::size_t space_at_front(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && begins_with_space(text.substr(end))) end += first_character_bytes(text.substr(end));
  return end;
}

std::string_view without_space_behind(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && continues_character(text[last])) --last;
    if (!begins_with_space(text.substr(last))) break;
    text = text.substr(0, last);
  }
  return text;
}

}  // namespace

void AddedTokens::add(const std::string& text, const Token& token) {
  if (text.empty() || !tokens_.emplace(text, token).second) return;
  first_bytes_.set(static_cast<unsigned char>(text.front()));
}

// The longest token that `rest` begins with is in order the last one that is not greater than `rest`. If the token
// found there differs from `rest` at some byte, only tokens that end before it can fit: the search goes on with what
// both share.
std::optional<AddedTokens::Found> AddedTokens::at(std::string_view rest) const {
  while (!rest.empty()) {
    auto found = tokens_.upper_bound(rest);
    if (found == tokens_.begin()) return std::nullopt;
    const auto& [text, token] = *--found;
    if (rest.starts_with(text)) return Found{token, text.size()};
    const auto shared = std::mismatch(rest.begin(), rest.end(), text.begin(), text.end()).first - rest.begin();
    rest = rest.substr(0, static_cast<std::size_t>(shared));
  }
  return std::nullopt;
}

void AddedTokens::divide(std::string_view text, bool finds_special,
                         const std::function<void(std::string_view piece, std::optional<TokenId> token)>& take) const {
  std::size_t taken = 0;
  for (std::size_t place = 0; place < text.size();) {
    const auto found = first_bytes_[static_cast<unsigned char>(text[place])] ? at(text.substr(place)) : std::nullopt;
    if (!found || (found->token.is_special && !finds_special)) {
      ++place;
      continue;
    }
    std::string_view before = text.substr(taken, place - taken);
    if (found->token.takes_space_before) before = without_space_behind(before);
    if (!before.empty()) take(before, std::nullopt);
    take(text.substr(place, found->size), found->token.id);
    place += found->size;
    if (found->token.takes_space_behind) place += space_at_front(text.substr(place));
    taken = place;
  }
  if (taken < text.size()) take(text.substr(taken), std::nullopt);
}

}  // namespace rkllm_mcp::chat
