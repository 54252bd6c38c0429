// Versions of three numbers, which compare as versions do. Pure functions, any thread.
#pragma once

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace rkllm_mcp {

using Release = std::array<unsigned, 3>;

// That a text begins with: {1, 2, 1} of "1.2.1", "v1.2.1", "1.2.1b1" and "1.2.1.rkllm". Nothing if it begins with
// fewer numbers, or with more.
inline std::optional<Release> release_at_start(std::string_view text) {
  const auto is_digit = [](char character) { return character >= '0' && character <= '9'; };
  if (text.starts_with('v')) text.remove_prefix(1);
  Release release{};
  for (unsigned& number : release) {
    if (&number != release.data()) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (text.size() > 1 && text[0] == '.' && is_digit(text[1])) return std::nullopt;
  return release;
}

inline std::string shown_release(const Release& release) {  // "1.2.1"
  return std::to_string(release[0]) + "." + std::to_string(release[1]) + "." + std::to_string(release[2]);
}

}  // namespace rkllm_mcp
