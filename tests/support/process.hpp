// A child process under a test's control: the real binary with real pipes, killed when the test leaves its scope.
//
// Standard output is read only when a test asks for it, so that a client that stops reading can be played; standard
// error is collected all the time, so that logs never block the child. Threads: use an object from one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

class Process {
 public:
  using Duration = std::chrono::milliseconds;
  static constexpr Duration kPatience{60'000};  // far above what anything here takes, sanitizers included

  struct Options {
    std::vector<std::string> args{};                         // args[0] is the program, a path or found in $PATH
    std::vector<std::pair<std::string, std::string>> env{};  // set on top of the test's own environment
    std::vector<std::string> unset{};                        // taken out of it
    std::string directory{};                                 // working directory; empty: the test's own
    enum class Input { kPipe, kNull } input = Input::kPipe;
  };

  // Starts the program. Throws std::system_error if it cannot be started.
  explicit Process(const Options& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // SIGKILL if it still runs, and reaped in any case

  pid_t pid() const { return pid_; }
  void signal(int number);  // nothing if it has ended

  // Writes everything to standard input; false if the child has closed it.
  bool write(std::string_view text);
  void close_input();

  // The next line of standard output without its newline (at its end also an unfinished one); nothing at the end of
  // output or when the time is over.
  std::optional<std::string> read_line(Duration patience = kPatience);
  // Everything that standard output still holds, up to its end or until the time is over.
  std::string read_rest(Duration patience = kPatience);
  // For tests that read standard output by themselves (after it, read_line and read_rest are not to be used).
  int output_descriptor() const { return output_; }
  void close_output();

  std::string error_text() const;  // standard error so far; complete once wait() has given a status in time
  // Waits until standard error contains `text`; false when the time is over, or when nobody holds it open any more.
  bool wait_for_error_text(std::string_view text, Duration patience = kPatience);

  // The exit status, 128 + the number if a signal ended it; nothing when the time is over. Standard output is left in
  // its pipe: a child with more than a pipe's worth of it is to be read first.
  std::optional<int> wait(Duration patience = kPatience);

 private:
  void collect_errors(int descriptor);
  void await_end();
  bool fill(std::chrono::steady_clock::time_point deadline);  // reads some output; false at its end or at the deadline

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int stop_ = -1;  // an eventfd that ends the error reader even if a grandchild keeps standard error open
  std::string output_text_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::string error_text_;
  bool error_ended_ = false;
  std::optional<int> status_;

  std::thread error_reader_;
  std::thread waiter_;
};

// Runs a program to its end, with nothing on standard input. Throws std::runtime_error if it does not end in time.
struct EndedProcess {
  int status;
  std::string out;
  std::string err;
};
EndedProcess run_to_end(Process::Options options, Process::Duration patience = Process::kPatience);

// A new directory of its own, removed with all that is in it at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

// Waits until a file exists, or also has contents; false when the time is over.
bool wait_for_file(const std::string& path, Process::Duration patience = Process::kPatience);
bool wait_for_contents(const std::string& path, Process::Duration patience = Process::kPatience);
std::string read_file(const std::string& path);  // throws std::runtime_error if it cannot be read
void write_file(const std::string& path, std::string_view text);

}  // namespace rkllm_mcp::test
