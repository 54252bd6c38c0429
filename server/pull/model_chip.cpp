#include "pull/model_chip.hpp"

#include <algorithm>
#include <array>
#include <cctype>

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

}  // namespace rkllm_mcp
