// Standard input, line by line or all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace rkllm_mcp {

// Reads lines for a command that has to notice other events, too: a wait ends with a line, when another thread calls
// wake(), or after a time.
//
// Threads: next() and forget_wakeup() on one; wake() on any.
class InputLines {
 public:
  enum class Event { kLine, kEnd, kWoken, kSilence };

  InputLines();  // throws std::system_error
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;
  ~InputLines();

  // The next line, without its end. A line that has been read already goes before other events. A negative patience
  // never ends. Throws std::runtime_error for a line of more than 256 MiB, std::system_error if the wait fails.
  Event next(std::chrono::milliseconds patience, std::string& line);

  // Ends the wait of next(), now or next time, until the wakeup is forgotten.
  void wake() const;
  void forget_wakeup() const;

 private:
  bool take_line(std::string& line);
  void fill();

  const int wakeup_;  // an eventfd of its own
  std::string text_;
  std::size_t taken_ = 0;     // so many bytes of text_ have been handed out
  std::size_t searched_ = 0;  // so many bytes of text_ hold no further line end
  bool ended_ = false;
};

// What is piped into standard input of a command that takes text from there. kMayBeNone: the command could do without
// it, and standard input is often an open pipe that nobody writes to (ssh, CI, cron), and that nobody is there to end.
// kAskedFor: a "-" asks for it.
enum class PipedInput { kMayBeNone, kAskedFor };

inline constexpr std::chrono::milliseconds kPipePatience{10'000};

// All of it, to its end. After a second in which nothing came, a person is told on standard error what is waited for,
// and how to end the wait. kMayBeNone gives up after `patience`, and throws std::invalid_argument: whether something
// comes later cannot be told, and what was piped in must not be left out. `what`: "the parameters".
std::string piped_input(const std::string& what, PipedInput wish, std::chrono::milliseconds patience = kPipePatience);

}  // namespace rkllm_mcp
