// A program on a terminal of its own, as a person has it: what it prints is what the terminal shows, keys are typed.
// Killed when the test leaves its scope. Threads: use an object from one thread.
#pragma once

#include "support/process.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

class TerminalProcess {
 public:
  using Duration = Process::Duration;

  // Standard input, output and error are the terminal. `columns` wide. Throws std::system_error.
  explicit TerminalProcess(const Process::Options& options, unsigned short columns = 80);
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;
  ~TerminalProcess();

  void type(std::string_view keys);  // "\x03" is Ctrl-C, "\n" the Enter key
  // Reads until the terminal has shown `text` after what earlier calls waited for; false at the end or when time is
  // over.
  bool wait_for(std::string_view text, Duration patience = Process::kPatience);
  const std::string& shown() const { return shown_; }  // all that was read
  // Reads to the end and returns the exit status, 128 + the number if a signal ended it; nothing when time is over.
  std::optional<int> wait(Duration patience = Process::kPatience);

 private:
  bool read_some(std::chrono::steady_clock::time_point deadline);

  pid_t pid_ = -1;
  int terminal_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;  // of shown_, what was waited for
};

}  // namespace rkllm_mcp::test
