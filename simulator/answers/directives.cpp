#include "answers/directives.hpp"

#include "engine/sim_json.hpp"

#include <algorithm>
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

// The string or array that `text` begins with: a chat host may have written marks behind it.
std::string_view first_value(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size() && text[at] != '\n'; ++at) {
    const char character = text[at];
    if (in_string && character == '\\') {
      ++at;
    } else if (character == '"') {
      in_string = !in_string;
    } else if (!in_string && character == '[') {
      ++depth;
    } else if (!in_string && character == ']' && depth > 0) {
      --depth;
    }
    if (!in_string && depth == 0) return text.substr(0, at + 1);
  }
  return {};
}

// The texts of @say, which is the last directive of its line. None if the line is no JSON of that kind.
std::vector<std::string> read_texts(std::string_view json) {
  const Json value = Json::parse(json, nullptr, false);
  std::vector<std::string> texts;
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (!value.is_array()) return texts;
  for (const Json& text : value) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

bool asks_for_something(const Directives& directives) {
  return directives.exact_tokens || directives.seed != 0 || !directives.ids.empty() || !directives.texts.empty();
}

Directives directives_of_line(std::string_view prompt) {
  Directives directives;
  directives.line = prompt.substr(0, prompt.find('\n'));
  while (prompt.starts_with('@')) {
    std::string_view word = prompt.substr(0, prompt.find_first_of(" \n"));
    const std::string_view key = word.substr(0, word.find('='));
    if (key == "@say") {
      directives.texts = read_texts(first_value(prompt.substr(std::min(key.size() + 1, prompt.size()))));
      break;
    }
    prompt.remove_prefix(word.size());
    while (prompt.starts_with(' ')) prompt.remove_prefix(1);
    word.remove_prefix(std::min(key.size() + 1, word.size()));
    if (key == "@n") {
      const auto count = take_number<std::int64_t>(word);
      if (count && *count >= 1) directives.exact_tokens = count;
    } else if (key == "@seed") {
      directives.seed = take_number<std::uint64_t>(word).value_or(0);
    } else if (key == "@ids") {
      directives.ids = read_ids(word);
    } else if (key == "@bytes") {
      directives.in_bytes = true;
    } else {
      break;
    }
  }
  return directives;
}

}  // namespace

Directives read_directives(std::string_view prompt) {
  if (prompt.starts_with('@')) return directives_of_line(prompt);
  for (std::size_t at = prompt.rfind("\n@"); at != std::string_view::npos; at = prompt.substr(0, at).rfind("\n@")) {
    Directives directives = directives_of_line(prompt.substr(at + 1));
    directives.is_line = true;
    if (asks_for_something(directives)) return directives;
  }
  return {};
}

}  // namespace rkllm_mcp::sim
