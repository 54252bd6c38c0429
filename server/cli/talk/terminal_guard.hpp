// The settings of the terminal that chat runs on. They are changed while a line is edited, and while an answer is
// printed, so that keys are not shown in it. Where standard input is no terminal, nothing is changed.
//
// Threads: one.
#pragma once

#include <termios.h>

namespace rkllm_mcp {

// Gives the terminal back as it was when this was made: at its end, and when a signal ends or stops the program
// (Ctrl-Z). A program that goes on after a stop finds the terminal as it left it. There is one of these at a time.
class TerminalGuard {
 public:
  TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;
  ~TerminalGuard();
};

// While it lives the terminal does not show what is typed; it is kept for whoever reads next.
class NoEchoGuard {
 public:
  NoEchoGuard();
  NoEchoGuard(const NoEchoGuard&) = delete;
  NoEchoGuard& operator=(const NoEchoGuard&) = delete;
  ~NoEchoGuard();

  // To be called now and then, as before something is printed: some shells (bash) bring a program that runs in the
  // background back to the foreground without a signal.
  void go_on() const;

 private:
  termios before_{};
  bool is_terminal_ = false;
};

}  // namespace rkllm_mcp
