#include "library/standard_error_tap.hpp"

#include "support/catch.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

using ErrorLines = std::vector<std::string>;

// A descriptor of this process leads into a pipe while this lives.
class LedIntoPipe {
 public:
  explicit LedIntoPipe(int descriptor, int bytes = 65536) : LedIntoPipe(descriptor, make_pipe()) {
    REQUIRE(::fcntl(reader_.number(), F_SETPIPE_SZ, bytes) == bytes);
    ::fcntl(reader_.number(), F_SETFL, O_NONBLOCK);
  }
  LedIntoPipe(const LedIntoPipe&) = delete;
  LedIntoPipe& operator=(const LedIntoPipe&) = delete;
  ~LedIntoPipe() { ::dup2(before_.number(), led_); }

  // All that has come since the last time.
  std::string take() const {
    std::string all;
    std::array<char, 4096> bytes{};
    for (;;) {
      const auto count = ::read(reader_.number(), bytes.data(), bytes.size());
      if (count <= 0) return all;
      all.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  LedIntoPipe(int descriptor, DescriptorPair pipe)
      : led_(descriptor), before_(::fcntl(descriptor, F_DUPFD_CLOEXEC, 10)), reader_(std::move(pipe.first)) {
    REQUIRE(::dup2(pipe.second.number(), led_) == led_);
  }

  const int led_;
  const Descriptor before_;
  Descriptor reader_;
};

void print_to(int descriptor, std::string_view text) {
  REQUIRE(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

// For a child of fork(): crashes while the thread of the tap hangs, so that there are last words to pass on.
[[noreturn]] void crash_with_last_words() {
  ::alarm(60);
  std::signal(SIGABRT, SIG_DFL);  // not the test framework's
  static const DescriptorPair hangs = make_pipe();
  std::signal(SIGUSR1, [](int) {
    [[maybe_unused]] const auto told = ::write(hangs.second.number(), "x", 1);
    for (;;) ::pause();
  });
  const StandardErrorTap tap;
  sigset_t for_the_tap;
  sigemptyset(&for_the_tap);
  sigaddset(&for_the_tap, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &for_the_tap, nullptr);
  ::kill(::getpid(), SIGUSR1);
  char byte = 0;
  while (::read(hangs.first.number(), &byte, 1) != 1) {
  }
  [[maybe_unused]] const auto printed = ::write(STDERR_FILENO, "the last words\n", 15);
  std::abort();
}

}  // namespace

TEST_CASE("what is written to standard error is passed on unchanged, whoever writes it") {
  const LedIntoPipe error(STDERR_FILENO);
  StandardErrorTap tap;
  const std::string text = std::string("I rkllm: \xFF\0 line\nhalf of ", 23) + std::string(3000, 'x') + "\n\n";
  print_to(STDERR_FILENO, text);
  CHECK(tap.line_count() == 3);  // all that was written has been passed on when lines are counted
  CHECK(error.take() == text);
}

TEST_CASE("the error lines that were written before the question are among the answers to it") {
  const LedIntoPipe error(STDERR_FILENO);
  StandardErrorTap tap;
  print_to(STDERR_FILENO, "E rkllm: first\n");
  const auto place = tap.line_count();
  CHECK(place == 1);
  CHECK(tap.errors_since(place) == ErrorLines{});
  print_to(STDERR_FILENO, "I rkllm: nothing\nE rkllm: second\nE rkllm: unfinished");
  CHECK(tap.errors_since(place) == ErrorLines{"E rkllm: second"});
  CHECK(tap.errors_since(0) == ErrorLines{"E rkllm: first", "E rkllm: second"});
}

TEST_CASE("at its end everything has been passed on, and standard error is as before") {
  const LedIntoPipe error(STDERR_FILENO);
  {
    const StandardErrorTap tap;
    print_to(STDERR_FILENO, "with a tap, without an end of line");
  }
  CHECK(error.take() == "with a tap, without an end of line");
  print_to(STDERR_FILENO, "after it\n");
  CHECK(error.take() == "after it\n");
  const StandardErrorTap another;
  print_to(STDERR_FILENO, "E rkllm: once more\n");
}

TEST_CASE("standard output is listened to where it is standard error, and else left alone") {
  const LedIntoPipe output(STDOUT_FILENO);
  const LedIntoPipe error(STDERR_FILENO);
  std::string of_error;
  std::string of_output;
  std::uint64_t lines_of_one = 0;
  std::uint64_t lines_of_two = 0;
  {
    StandardErrorTap tap;
    print_to(STDOUT_FILENO, "to output\n");
    lines_of_two = tap.line_count();
    of_output = output.take();
  }
  REQUIRE(::dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO);
  {
    StandardErrorTap tap;
    print_to(STDOUT_FILENO, "to both\n");
    lines_of_one = tap.line_count();
    of_error = error.take();
  }
  print_to(STDOUT_FILENO, "after it\n");
  const std::string after = error.take();
  CHECK(lines_of_two == 0);
  CHECK(of_output == "to output\n");
  CHECK(lines_of_one == 1);
  CHECK(of_error == "to both\n");
  CHECK(after == "after it\n");
}

TEST_CASE("what nobody reads is dropped and holds nobody up, and a later line says how much it was") {
  const LedIntoPipe error(STDERR_FILENO, 8192);
  StandardErrorTap tap;
  const std::string full = std::string(4095, 'x') + "\n" + std::string(4095, 'y') + "\n";
  print_to(STDERR_FILENO, full);
  CHECK(tap.line_count() == 2);
  print_to(STDERR_FILENO, "E rkllm: dropped\n");
  CHECK(tap.errors_since(0) == ErrorLines{"E rkllm: dropped"});  // answers lose nothing
  print_to(STDERR_FILENO, "and this\n");
  CHECK(tap.line_count() == 4);
  CHECK(error.take() == full);
  print_to(STDERR_FILENO, "seen\n");
  CHECK(tap.line_count() == 5);
  CHECK(error.take() == "\n(26 bytes of standard error were dropped)\nseen\n");
  print_to(STDERR_FILENO, "seen\n");
  CHECK(tap.line_count() == 6);
  CHECK(error.take() == "seen\n");
}

TEST_CASE("a crash passes on the last words, and does not wait for a reader that does not read") {
  const bool is_full = GENERATE(false, true);
  const LedIntoPipe error(STDERR_FILENO, 8192);
  const std::string before(is_full ? 8192 : 0, 'x');
  print_to(STDERR_FILENO, before);
  const pid_t child = ::fork();
  if (child == 0) crash_with_last_words();
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(error.take() == before + (is_full ? "" : "the last words\n"));
}

}  // namespace rkllm_mcp
