// One line of the terminal that says how far something is, written over again and again; nothing where standard error
// is no terminal.
//
// Threads: one at a time.
#pragma once

#include "clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rkllm_mcp {

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { end(); }

  bool is_shown() const { return is_shown_; }
  // Five times a second at most; kNow: also in between, for what is not to be missed.
  enum class When { kSometimes, kNow };
  void show(const std::string& text, When when = When::kSometimes);
  // A line of its own, which stays.
  void say(const std::string& words);
  // Leaves the line as it is, and begins the next one.
  void end();
  // Removes the line.
  void clear();

 private:
  const bool is_shown_;
  bool is_open_ = false;
  Clock::time_point last_{};
};

// "[######........] 40%  1.2 GB of 3.0 GB"; "1.2 GB" if nobody knows how many there are in all.
std::string shown_progress(std::int64_t done, std::optional<std::int64_t> of);
// "[######........] 40%  120 of 300"
std::string shown_count(std::int64_t done, std::int64_t of);
// Shortens such a text for a narrow terminal: first leaves out the bar, then also the last parts of the text.
std::string fitted_progress(std::string text, std::size_t columns);
// "40 s left", "12 min left".
std::string shown_time_left(double seconds);

}  // namespace rkllm_mcp
