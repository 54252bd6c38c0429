#include "compare/line_diff.hpp"

#include "files.hpp"

#include <algorithm>
#include <vector>

namespace bindgen {
namespace {

using Lines = std::vector<std::string>;

// Length of the longest common subsequence of every pair of suffixes.
std::vector<std::vector<unsigned>> common_lengths(const Lines& one, const Lines& other) {
  std::vector<std::vector<unsigned>> length(one.size() + 1, std::vector<unsigned>(other.size() + 1, 0));
  for (std::size_t i = one.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      length[i][j] = one[i] == other[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

}  // namespace

std::string line_diff(const std::string& before, const std::string& after, std::size_t limit) {
  Lines one = lines_of(before);
  Lines other = lines_of(after);
  const auto first = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  const auto offset = static_cast<std::size_t>(first.first - one.begin());
  one.erase(one.begin(), first.first);
  other.erase(other.begin(), first.second);
  while (!one.empty() && !other.empty() && one.back() == other.back()) {
    one.pop_back();
    other.pop_back();
  }
  // The table is quadratic; texts that have little in common are told as a whole.
  constexpr std::size_t kMostCells = 4'000'000;
  const bool is_small = one.size() * other.size() <= kMostCells;
  const auto length = is_small ? common_lengths(one, other) : std::vector<std::vector<unsigned>>();

  std::string text;
  std::size_t told = 0;
  bool in_group = false;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < one.size() || j < other.size()) {
    if (is_small && i < one.size() && j < other.size() && one[i] == other[j]) {
      in_group = false;
      ++i;
      ++j;
      continue;
    }
    if (told++ == limit) return text + "... and more\n";
    if (!in_group) text += "@@ line " + std::to_string(offset + i + 1) + "\n";
    in_group = true;
    const bool removes = j == other.size() || (i < one.size() && (!is_small || length[i + 1][j] >= length[i][j + 1]));
    text += removes ? "-" + one[i++] + "\n" : "+" + other[j++] + "\n";
  }
  return text;
}

}  // namespace bindgen
