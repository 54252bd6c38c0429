#include "log_tail.hpp"

#include <algorithm>

namespace rkllm_mcp {

void LogTail::add(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  line = line.substr(0, kLongestLine);
  const std::lock_guard lock(mutex_);
  lines_.emplace_back(line);
  bytes_ += line.size();
  while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
    ++first_;
  }
}

LogTail::Part LogTail::from(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_ + lines_.size();
  const std::uint64_t first = number > end ? first_ : std::max(number, first_);
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(first - first_);
  return {first, {begin, lines_.end()}};
}

}  // namespace rkllm_mcp
