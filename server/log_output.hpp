// Where the log's lines leave the process: standard error or a file. Nobody who fails to read them can hold it up: it
// never waits for longer than it is allowed to, also where standard error is a pipe that is full.
//
// Threads: one at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class LogOutput {
 public:
  // What standard error is now. Later changes of descriptor 2 make no difference.
  static LogOutput standard_error();
  // Appends. Throws std::system_error if the file cannot be opened.
  explicit LogOutput(const std::string& file);
  LogOutput(LogOutput&& other) noexcept;
  LogOutput& operator=(LogOutput&& other) noexcept;
  ~LogOutput();

  // Writes the line, newline included. While the reader takes nothing, `may_wait` is asked every few milliseconds
  // whether to go on waiting. Returns 0 if the line is written, or a part of it: the rest is written before the next
  // line. Else returns the errno for which the line is lost.
  int write(std::string_view line, const std::function<bool()>& may_wait);

 private:
  // How to write without waiting: the descriptor never waits; it is a socket; or it has to be asked each time, because
  // its flags are shared with other processes.
  enum class Kind { kNeverWaits, kSocket, kAsk };

  LogOutput(int descriptor, Kind kind) : descriptor_(descriptor), kind_(kind) {}
  long write_some(std::string_view text) const;
  int push(std::string_view& text, const std::function<bool()>& may_wait) const;

  int descriptor_ = -1;
  Kind kind_ = Kind::kNeverWaits;
  std::string rest_;  // of a line that was cut
};

// For the little that is said outside the log: writes a line to standard error, and gives up after a second.
void say_on_standard_error(std::string_view line);

}  // namespace rkllm_mcp
