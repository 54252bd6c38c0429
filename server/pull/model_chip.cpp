#include "pull/model_chip.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

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

std::optional<Release> release_in(std::string_view name) {
  constexpr unsigned kMajor = 1;   // of all releases of the toolkit
  constexpr unsigned kMost = 100;  // the year of a date is larger
  const auto is_within_word = [](unsigned char before) { return before == '.' || std::isalnum(before) != 0; };
  std::optional<Release> last;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(name[at])) == 0) continue;
    const std::size_t word = at > 0 && (name[at - 1] == 'v' || name[at - 1] == 'V') ? at - 1 : at;
    if (word > 0 && is_within_word(static_cast<unsigned char>(name[word - 1]))) continue;
    const auto release = release_at_start(name.substr(at));
    if (release && (*release)[0] == kMajor && (*release)[1] < kMost && (*release)[2] < kMost) last = release;
  }
  return last;
}

}  // namespace rkllm_mcp
