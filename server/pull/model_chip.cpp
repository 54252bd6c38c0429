#include "pull/model_chip.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <system_error>

namespace rkllm_mcp {

std::optional<std::string> chip_in_name(std::string_view name) {
  constexpr std::array kChips{"rk3588", "rk3576", "rk3562", "rv1126b", "rk3568", "rk3566"};
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char character) { return static_cast<char>(std::tolower(character)); });
  for (const char* const chip : kChips) {
    if (lower.find(chip) != std::string::npos) return chip;
  }
  return std::nullopt;
}

std::optional<Release> release_in(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  for (auto at = text.find_first_of(kDigits); at != std::string_view::npos; at = text.find_first_of(kDigits, at)) {
    const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    std::string_view numbers = text.substr(at, end - at);
    if (numbers.ends_with('.')) numbers.remove_suffix(1);  // that of the file's ending
    at = end;
    Release release{};
    std::size_t count = 0;
    const char* next = numbers.data();
    const char* const behind = numbers.data() + numbers.size();
    for (; count < release.size(); ++count) {
      if (count > 0 && (next == behind || *next++ != '.')) break;
      const auto [stop, error] = std::from_chars(next, behind, release[count]);
      if (error != std::errc()) break;
      next = stop;
    }
    if (count == release.size() && next == behind) return release;
  }
  return std::nullopt;
}

std::string shown_release(const Release& release) {
  return std::to_string(release[0]) + "." + std::to_string(release[1]) + "." + std::to_string(release[2]);
}

}  // namespace rkllm_mcp
