// "Did you mean ...?" for names that a client or a user got wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Insertions, deletions and replacements of one character that turn `from` into `to`.
inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// The candidate that is close enough to be meant: at most a third of the letters differ, or it begins or ends with
// `name`. The first of equals. `candidates` is any range of values that convert to string_view.
template <class Range>
std::optional<std::string_view> nearest_name(std::string_view name, const Range& candidates) {
  constexpr std::size_t kLongestName = 128;  // hostile names are not compared with everything
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool contains = name.size() >= 3 && (candidate.starts_with(name) || candidate.ends_with(name));
    const std::size_t distance = contains ? 1 : edit_distance(name, candidate);
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
