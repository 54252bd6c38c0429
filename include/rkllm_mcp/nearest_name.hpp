// "Did you mean ...?" for names that a client or a user got wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Insertions, deletions and replacements of one character, and swaps of two neighbours, that turn `from` into `to`.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above = row;  // the row before `row`, and `two_above` the one before that
  std::vector<std::size_t> two_above;
  for (std::size_t i = 0; i < from.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = above[j] + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
      const bool is_swap = i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
      if (is_swap) row[j + 1] = std::min(row[j + 1], two_above[j - 1] + 1);
    }
  }
  return row.back();
}

// A to Z as small letters: names differ in case for no reason that a client knows.
inline std::string in_small_letters(std::string_view name) {
  std::string small(name);
  for (char& each : small) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  }
  return small;
}

// The candidate that is close enough to be meant: at most a third of the letters differ, or it begins or ends with
// `name`. Case does not count. The first of equals. `candidates` is any range of values that convert to string_view.
template <class Range>
std::optional<std::string_view> nearest_name(std::string_view name, const Range& candidates) {
  constexpr std::size_t kLongestName = 128;  // hostile names are not compared with everything
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string small = in_small_letters(name);
  std::optional<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::string known = in_small_letters(candidate);
    const bool contains = small.size() >= 3 && (known.starts_with(small) || known.ends_with(small));
    const std::size_t distance = contains ? 1 : edit_distance(small, known);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

// Ready to be appended to a complaint: `; did you mean "top_k"?`, or nothing.
template <class Range>
std::string did_you_mean(std::string_view name, const Range& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? "; did you mean \"" + std::string(*nearest) + "\"?" : std::string();
}

}  // namespace rkllm_mcp
