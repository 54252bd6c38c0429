// The terminal's settings while chat runs, on a terminal of the test's own; with keys and signals: talk_test.cpp.
#include "cli/talk/terminal_guard.hpp"

#include "server/cli/stand_in_terminal.hpp"
#include "support/catch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <vector>

namespace rkllm_mcp::test {
namespace {

void (*handler_of(int signal))(int) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

// These signals do what is usual, or are ignored, until the end of this.
class HandledAsUsual {
 public:
  explicit HandledAsUsual(std::vector<int> signals, void (*handler)(int) = SIG_DFL) : signals_(std::move(signals)) {
    for (const int signal : signals_) {
      struct sigaction wanted {};
      wanted.sa_handler = handler;
      ::sigaction(signal, &wanted, &before_.emplace_back());
    }
  }
  HandledAsUsual(const HandledAsUsual&) = delete;
  HandledAsUsual& operator=(const HandledAsUsual&) = delete;
  ~HandledAsUsual() {
    for (std::size_t at = 0; at < signals_.size(); ++at) ::sigaction(signals_[at], &before_[at], nullptr);
  }

 private:
  const std::vector<int> signals_;
  std::vector<struct sigaction> before_;
};

termios without_keys(termios all) {
  constexpr tcflag_t kKeys = ECHO | ICANON;
  all.c_lflag &= ~kKeys;
  return all;
}

}  // namespace

TEST_CASE("a terminal is given back as it was, whatever was changed meanwhile") {
  const StandInTerminal terminal(STDIN_FILENO);
  const termios before = terminal.settings();
  {
    const TerminalGuard kept;
    terminal.set(without_keys(before));
    CHECK_FALSE(terminal.shows_keys());
  }
  CHECK(terminal.shows_keys());
  CHECK(terminal.settings().c_lflag == before.c_lflag);
}

TEST_CASE("keys are not shown while they are quiet, and then as before") {
  const StandInTerminal terminal(STDIN_FILENO);
  const termios before = terminal.settings();
  {
    const NoEchoGuard quiet;
    CHECK_FALSE(terminal.shows_keys());
    CHECK((terminal.settings().c_lflag & ICANON) != 0);
    quiet.go_on();
    CHECK_FALSE(terminal.shows_keys());
  }
  CHECK(terminal.settings().c_lflag == before.c_lflag);

  terminal.set(without_keys(before));
  { const NoEchoGuard quiet; }
  CHECK_FALSE(terminal.shows_keys());
}

TEST_CASE("a signal that would end or stop the program is met only while the terminal is kept") {
  const std::vector<int> signals{SIGHUP, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGCONT};
  const HandledAsUsual usual(signals);
  const StandInTerminal terminal(STDIN_FILENO);
  {
    const TerminalGuard kept;
    for (const int signal : signals) {
      INFO(signal);
      CHECK(handler_of(signal) != SIG_DFL);
    }
  }
  for (const int signal : signals) {
    INFO(signal);
    CHECK(handler_of(signal) == SIG_DFL);
  }
}

TEST_CASE("signals that are ignored stay so, as those of a shell without jobs and of nohup") {
  const std::vector<int> signals{SIGHUP, SIGTSTP};
  const HandledAsUsual ignored(signals, SIG_IGN);
  const HandledAsUsual usual({SIGCONT});
  const StandInTerminal terminal(STDIN_FILENO);
  {
    const TerminalGuard kept;
    CHECK(handler_of(SIGHUP) == SIG_IGN);
    CHECK(handler_of(SIGTSTP) == SIG_IGN);
    CHECK(handler_of(SIGCONT) == SIG_DFL);
  }
  CHECK(handler_of(SIGHUP) == SIG_IGN);
}

TEST_CASE("where standard input is no terminal no signal is met") {
  const HandledAsUsual usual({SIGHUP, SIGTSTP, SIGCONT});
  const int before = ::dup(STDIN_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(::dup2(nothing, STDIN_FILENO) == STDIN_FILENO);
  {
    const TerminalGuard kept;
    const NoEchoGuard quiet;
    CHECK(handler_of(SIGHUP) == SIG_DFL);
    CHECK(handler_of(SIGTSTP) == SIG_DFL);
    CHECK(handler_of(SIGCONT) == SIG_DFL);
  }
  ::dup2(before, STDIN_FILENO);
  ::close(before);
  ::close(nothing);
}

}  // namespace rkllm_mcp::test
