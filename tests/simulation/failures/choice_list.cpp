#include "choice_list.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostChoices = 1'000'000;

// All of `text`.
std::uint32_t number_in(std::string_view text, std::string_view word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw std::invalid_argument("no choice: \"" + std::string(word) + "\"; expected NUMBER or NUMBER*TIMES");
  }
  return number;
}

}  // namespace

std::string to_text(const Choices::Made& choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size();) {
    std::size_t end = i;
    while (end < choices.size() && choices[end] == choices[i]) ++end;
    if (!text.empty()) text += ' ';
    text += std::to_string(choices[i]);
    if (end - i > 1) text += "*" + std::to_string(end - i);
    i = end;
  }
  return text;
}

Choices::Made choices_from(std::string_view text) {
  Choices::Made choices;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const auto star = word.find('*');
      const auto choice = number_in(std::string_view(word).substr(0, star), word);
      const std::size_t times =
          star == std::string::npos ? 1 : number_in(std::string_view(word).substr(star + 1), word);
      if (times > kMostChoices - choices.size()) throw std::invalid_argument("more choices than any schedule has");
      choices.insert(choices.end(), times, choice);
    }
  }
  return choices;
}

}  // namespace rkllm_mcp::simulation
