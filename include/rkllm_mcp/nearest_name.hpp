// "Did you mean ...?" for names that a client or a user got wrong.
#pragma once

#include <rkllm_mcp/lower_case.hpp>

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
// `limit` if there are as many or more, which is often known early. Adds to `steps` the pairs of characters that it
// looks at.
inline std::size_t edit_distance_below(std::size_t limit, std::string_view from, std::string_view to,
                                       std::size_t& steps) {
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
    steps += to.size();
    // No later row has a smaller number than the smallest of this one.
    if (*std::min_element(row.begin(), row.end()) >= limit) return limit;
  }
  return std::min(row.back(), limit);
}

inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::size_t steps = 0;
  return edit_distance_below(static_cast<std::size_t>(-1), from, to, steps);
}

// The candidate that is close enough to be meant: at most a third of the letters differ (one always may), or it begins
// or ends with `name`, if that has three letters. Case does not count: names differ in it for no reason that a client
// knows. The first of equals. `candidates` is any range of values that convert to string_view; of very many only the
// first are looked at. Nothing for a `name` above 128 bytes.
template <class Range>
std::optional<std::string_view> nearest_name(std::string_view name, const Range& candidates) {
  constexpr std::size_t kLongestName = 128;                  // hostile names are not compared with everything
  constexpr std::size_t kMostSteps = std::size_t{1} << 20U;  // some milliseconds
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  const std::string lower = in_lower_case(name);
  std::optional<std::string_view> nearest;
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::size_t steps = 0;
  for (const std::string_view candidate : candidates) {
    if (steps >= kMostSteps) break;
    steps += 1 + name.size();
    const auto is_it = [&lower](std::string_view part) { return in_lower_case(part) == lower; };
    const bool may_contain = lower.size() >= 3 && candidate.size() >= lower.size();
    const bool contains = may_contain && (is_it(candidate.substr(0, lower.size())) ||
                                          is_it(candidate.substr(candidate.size() - lower.size())));
    const auto [shorter, longer] = std::minmax({lower.size(), candidate.size()});
    if (!contains && longer - shorter >= best) continue;  // at least so many insertions are needed
    const std::size_t distance = contains ? 1 : edit_distance_below(best, lower, in_lower_case(candidate), steps);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

// The one of `candidates` (at least one) that takes the fewest edits to become `name`, however many that are: for
// refusals that always show a way on. The first of equals. Longer names are compared by their beginning, which bounds
// the work.
template <class Range>
std::string nearest_at_any_distance(std::string_view name, const Range& candidates) {
  constexpr std::size_t kLongestName = 200;
  name = name.substr(0, kLongestName);
  return std::string(*std::ranges::min_element(
      candidates, {}, [name](std::string_view candidate) { return edit_distance(name, candidate); }));
}

// Ready to be appended to a complaint: `; did you mean "top_k"?`, or nothing.
template <class Range>
std::string did_you_mean(std::string_view name, const Range& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? "; did you mean \"" + std::string(*nearest) + "\"?" : std::string();
}

}  // namespace rkllm_mcp
