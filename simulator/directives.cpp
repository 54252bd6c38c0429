#include "directives.hpp"

#include <charconv>

namespace rkllm_mcp::sim {
namespace {

// The number at the start of `text`, which it is removed from.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::vector<TokenId> read_ids(std::string_view list) {
  std::vector<TokenId> ids;
  while (const auto id = take_number<TokenId>(list)) {
    ids.push_back(*id);
    if (!list.starts_with(',')) break;
    list.remove_prefix(1);
  }
  return ids;
}

}  // namespace

Directives read_directives(std::string_view prompt) {
  Directives directives;
  while (prompt.starts_with('@')) {
    std::string_view word = prompt.substr(0, prompt.find_first_of(" \n"));
    prompt.remove_prefix(word.size());
    while (prompt.starts_with(' ')) prompt.remove_prefix(1);
    const std::string_view key = word.substr(0, word.find('='));
    word.remove_prefix(std::min(key.size() + 1, word.size()));
    if (key == "@n") {
      const auto count = take_number<std::int64_t>(word);
      if (count && *count >= 1) directives.exact_tokens = count;
    } else if (key == "@seed") {
      directives.seed = take_number<std::uint64_t>(word).value_or(0);
    } else if (key == "@ids") {
      directives.ids = read_ids(word);
    } else {
      break;
    }
  }
  return directives;
}

}  // namespace rkllm_mcp::sim
