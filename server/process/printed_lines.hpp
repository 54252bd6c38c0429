// What a library prints, line by line: counted, and its last error lines kept for the answers of calls.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class PrintedLines {
 public:
  using LineFunction = std::function<void(std::string_view line)>;

  // The most that is kept of an error line, whose library quotes what clients have sent. The log has more of it.
  static constexpr std::size_t kErrorBytes = 512;

  // `line` is called with each line, on the thread that brings it, and must not call back.
  explicit PrintedLines(LineFunction line) : line_(std::move(line)) {}

  void take(std::string_view bytes);
  void end();  // nothing comes any more: what stands there without an end of line is a line

  // How many lines there have been: a place to come back to.
  std::uint64_t line_count() const { return count_; }
  // The last error lines ("E rkllm: ...") since then, oldest first; a longer one than kErrorBytes ends in "...".
  std::vector<std::string> errors_since(std::uint64_t lines) const;

 private:
  void finish_line();

  const LineFunction line_;
  mutable std::mutex mutex_;
  std::string partial_;
  std::atomic<std::uint64_t> count_{0};  // read with every token, which must not wait for the mutex
  struct ErrorLine {
    std::uint64_t number;
    std::string text;
  };
  std::deque<ErrorLine> errors_;
};

}  // namespace rkllm_mcp
