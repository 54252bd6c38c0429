#include "cli/talk/terminal_guard.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>

namespace rkllm_mcp {
namespace {

constexpr std::array kEndings{SIGHUP, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

// Global, since handlers of signals use them.
termios terminal_before{};
termios terminal_when_stopped{};
volatile std::sig_atomic_t is_stopped = 0;
std::array<struct sigaction, kEndings.size()> handlers_before{};
struct sigaction at_stop_before {};
struct sigaction at_going_on_before {};

bool is_foreground() { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

void restore_and_end(int signal) {
  // A program in the background (Ctrl-Z) has given the terminal back, and SIGTTOU would stop it here.
  if (is_foreground()) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  ::raise(signal);  // comes when this has returned, and then does what is usual
}

void go_on(int) {
  const int before = errno;
  // In the background it is the shell's; this is called again when the program comes back from there.
  if (is_stopped != 0 && is_foreground() && ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_when_stopped) == 0) {
    is_stopped = 0;
  }
  errno = before;
}

void restore_and_stop(int signal) {
  const int before = errno;
  // If is_stopped is still set, the program came back without a signal: terminal_when_stopped is set already.
  if (is_foreground() && (is_stopped != 0 || ::tcgetattr(STDIN_FILENO, &terminal_when_stopped) == 0)) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    is_stopped = 1;
  }
  struct sigaction usual {};
  struct sigaction ours {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, &ours);
  ::raise(signal);  // here it stops, and here it goes on
  ::sigaction(signal, &ours, nullptr);
  go_on(SIGCONT);
  errno = before;
}

}  // namespace

TerminalGuard::TerminalGuard() {
  const bool is_terminal = ::tcgetattr(STDIN_FILENO, &terminal_before) == 0;
  for (std::size_t at = 0; at < kEndings.size(); ++at) {
    ::sigaction(kEndings.at(at), nullptr, &handlers_before.at(at));
    if (!is_terminal || handlers_before.at(at).sa_handler != SIG_DFL) continue;  // nohup ignores SIGHUP
    struct sigaction ending {};
    ending.sa_handler = restore_and_end;
    ending.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(kEndings.at(at), &ending, nullptr);
  }
  ::sigaction(SIGTSTP, nullptr, &at_stop_before);
  ::sigaction(SIGCONT, nullptr, &at_going_on_before);
  if (!is_terminal || at_stop_before.sa_handler != SIG_DFL) return;  // a shell without jobs ignores it
  struct sigaction stop {};
  stop.sa_handler = restore_and_stop;
  stop.sa_flags = static_cast<int>(SA_RESTART | SA_NODEFER);  // it stops inside its handler
  ::sigaction(SIGTSTP, &stop, nullptr);
  struct sigaction continued {};
  continued.sa_handler = go_on;
  continued.sa_flags = static_cast<int>(SA_RESTART);
  ::sigaction(SIGCONT, &continued, nullptr);
}

TerminalGuard::~TerminalGuard() {
  if (::isatty(STDIN_FILENO) == 1) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  for (std::size_t at = 0; at < kEndings.size(); ++at) {
    ::sigaction(kEndings.at(at), &handlers_before.at(at), nullptr);
  }
  ::sigaction(SIGTSTP, &at_stop_before, nullptr);
  ::sigaction(SIGCONT, &at_going_on_before, nullptr);
}

NoEchoGuard::NoEchoGuard() {
  is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  if (!is_terminal_) return;
  termios quiet = before_;
  constexpr tcflag_t kEcho = ECHO;
  quiet.c_lflag &= ~kEcho;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
}

NoEchoGuard::~NoEchoGuard() {
  if (!is_terminal_) return;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);  // in the background it stops here, until the shell brings it back
  is_stopped = 0;
}

void NoEchoGuard::go_on() const { rkllm_mcp::go_on(SIGCONT); }

}  // namespace rkllm_mcp
