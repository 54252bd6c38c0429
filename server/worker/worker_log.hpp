// What a worker's library prints, line by line: given on as it comes, and the last error lines kept for the errors of
// calls.
//
// Threads: any.
#pragma once

#include "worker/descriptor.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class WorkerLog {
 public:
  using LineFunction = std::function<void(std::string_view line)>;

  // `pipe`: the end to read from. `line` is called on the thread that reads, and must not call back.
  WorkerLog(Descriptor pipe, LineFunction line);

  // Takes what is there, or a good part of it. kEnd: nobody can write any more.
  enum class Read { kMore, kAll, kEnd };
  Read read();
  // Waits until there is something to read, or for so long.
  void wait(std::chrono::milliseconds patience) const;

  // How many lines there have been: a place to come back to.
  std::uint64_t lines() const { return count_; }
  // The last error lines ("E rkllm: ...") since then, oldest first.
  std::vector<std::string> errors_since(std::uint64_t lines) const;

 private:
  void take(std::string_view bytes);
  void finish_line();

  const Descriptor pipe_;
  const LineFunction line_;

  mutable std::mutex mutex_;
  std::string partial_;
  std::atomic<std::uint64_t> count_{0};  // asked for with every token: not to wait for the mutex
  struct ErrorLine {
    std::uint64_t number;
    std::string text;
  };
  std::deque<ErrorLine> errors_;
};

}  // namespace rkllm_mcp
