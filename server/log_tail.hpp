// The last lines of the log, in memory, for people who look at it in the web page (GET /log). The oldest go when there
// are too many. What the log's thread cannot write for the time being, because nobody reads standard error, comes here
// late as well.
//
// Threads: any. The lock is held while lines are copied, and never while something is written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class LogTail {
 public:
  static constexpr std::size_t kMostLines = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 10U;  // of all lines
  static constexpr std::size_t kLongestLine = std::size_t{8} << 10U;  // what is longer is cut

  void add(std::string_view line);  // its end, a newline, is left out

  struct Part {
    std::uint64_t first;  // number of lines[0]; they are counted from 1
    std::vector<std::string> lines;
  };
  // The lines from that number on, as far as they are still there. All if the number is above that of the next line:
  // then the client has counted the lines of a server that ran before this one.
  Part from(std::uint64_t number) const;

 private:
  mutable std::mutex mutex_;  // guards what follows
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t first_ = 1;  // number of lines_.front()
};

inline void LogTail::add(std::string_view line) {
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

inline LogTail::Part LogTail::from(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_ + lines_.size();
  const std::uint64_t first = number > end ? first_ : std::max(number, first_);
  const auto begin = lines_.begin() + static_cast<std::ptrdiff_t>(first - first_);
  return {first, {begin, lines_.end()}};
}

}  // namespace rkllm_mcp
