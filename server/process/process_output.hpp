// What a worker's library prints, read from the worker's pipe and given on as it comes.
//
// Threads: any.
#pragma once

#include "process/descriptor.hpp"
#include "process/printed_lines.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace rkllm_mcp {

class ProcessOutput {
 public:
  using LineFunction = PrintedLines::LineFunction;

  // `pipe`: the end to read from. `line` is called on the thread that reads, and must not call back.
  ProcessOutput(Descriptor pipe, LineFunction line);

  // Takes what is there, or a good part of it. kEnd: nobody can write any more.
  enum class Read { kMore, kAll, kEnd };
  Read read();
  // Once, when the process has ended: takes what is there still, and no more than a pipe can hold twice, as another
  // process may write on without end. What stands there without an end of line is a line then.
  void read_rest();
  // Waits until there is something to read, which there is not after read() has returned kEnd, until `other` (a
  // descriptor; negative: none) has news, or for `patience`. True if `other` has news.
  bool wait(std::chrono::milliseconds patience, int other = -1) const;

  // See PrintedLines.
  std::uint64_t line_count() const { return log_.line_count(); }
  std::vector<std::string> errors_since(std::uint64_t lines) const { return log_.errors_since(lines); }

 private:
  const Descriptor pipe_;
  std::atomic<bool> has_ended_{false};  // nobody can write any more
  std::mutex reading_;                  // lines stay whole and in order
  PrintedLines log_;
};

}  // namespace rkllm_mcp
