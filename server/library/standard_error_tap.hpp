// Stands between a library in this process and standard error: keeps the error lines that it writes there for the
// answers of calls, and passes on everything, unchanged, whoever in this process wrote it. (A worker needs none: its
// outputs are a pipe anyway.)
//
// It never waits for a reader of standard error: what is not read at once is dropped, and a later line says how much.
// If the process crashes, what was written last is still passed on.
//
// Threads: any. One thread of its own passes on. At most one tap at a time.
#pragma once

#include "process/descriptor.hpp"
#include "process/printed_lines.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rkllm_mcp {

class StandardErrorTap {
 public:
  StandardErrorTap();  // throws std::system_error
  StandardErrorTap(const StandardErrorTap&) = delete;
  StandardErrorTap& operator=(const StandardErrorTap&) = delete;
  ~StandardErrorTap();  // standard error is as before, and everything has been passed on

  // See PrintedLines. Lines that were written before the call are among them.
  std::uint64_t line_count();
  std::vector<std::string> errors_since(std::uint64_t lines);

 private:
  void work();
  void catch_up();
  void pass_on(std::string_view bytes);
  bool try_to_pass_on(std::string_view bytes);

  const Descriptor standard_error_;  // the real one
  Descriptor standard_output_;       // the real one; empty if it is not the same as standard error
  DescriptorPair pipe_;
  Descriptor wake_up_;  // to end the thread
  std::mutex reading_;  // lines stay whole and in order
  PrintedLines log_;
  std::size_t dropped_ = 0;  // bytes, since the last that were passed on
  std::thread thread_;       // last: it uses all of the above
};

}  // namespace rkllm_mcp
