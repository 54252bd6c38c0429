#include "cli/talk/kept_terminal.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>

namespace rkllm_mcp {
namespace {

constexpr std::array kEndings{SIGHUP, SIGQUIT, SIGTERM, SIGPIPE, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

// For a handler of signals: they are there before it can come.
termios terminal_before{};
std::array<struct sigaction, kEndings.size()> handlers_before{};

void restore_and_end(int signal) {
  // Who runs in the background (Ctrl-Z) has given it back, and would be stopped for touching it.
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  ::raise(signal);  // comes when this has returned, and then does what is usual
}

// Gives whether it was on.
bool set_echo(bool is_on) {
  termios terminal{};
  if (::tcgetattr(STDIN_FILENO, &terminal) != 0) return false;
  constexpr tcflag_t kEcho = ECHO;
  const bool was_on = (terminal.c_lflag & kEcho) != 0;
  terminal.c_lflag = is_on ? terminal.c_lflag | kEcho : terminal.c_lflag & ~kEcho;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
  return was_on;
}

}  // namespace

KeptTerminal::KeptTerminal() {
  const bool is_terminal = ::tcgetattr(STDIN_FILENO, &terminal_before) == 0;
  for (std::size_t at = 0; at < kEndings.size(); ++at) {
    ::sigaction(kEndings.at(at), nullptr, &handlers_before.at(at));
    if (!is_terminal || handlers_before.at(at).sa_handler != SIG_DFL) continue;  // nohup ignores SIGHUP
    struct sigaction ending {};
    ending.sa_handler = restore_and_end;
    ending.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(kEndings.at(at), &ending, nullptr);
  }
}

KeptTerminal::~KeptTerminal() {
  if (::isatty(STDIN_FILENO) == 1) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  for (std::size_t at = 0; at < kEndings.size(); ++at) {
    ::sigaction(kEndings.at(at), &handlers_before.at(at), nullptr);
  }
}

QuietKeys::QuietKeys() : was_shown_(set_echo(false)) {}
QuietKeys::~QuietKeys() {
  if (was_shown_) set_echo(true);
}

}  // namespace rkllm_mcp
