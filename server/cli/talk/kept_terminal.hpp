// The terminal that chat runs on, which it changes: where keys are edited, and where they are not to be shown in the
// middle of an answer. All that changes nothing where standard input is no terminal.
//
// Threads: one.
#pragma once

namespace rkllm_mcp {

// When it goes, or a signal ends or stops the program (Ctrl-Z), the terminal is as it was when this was made; when the
// program goes on, as it was when it was stopped. One at a time.
class KeptTerminal {
 public:
  KeptTerminal();
  KeptTerminal(const KeptTerminal&) = delete;
  KeptTerminal& operator=(const KeptTerminal&) = delete;
  ~KeptTerminal();
};

// While it lives the terminal does not show what is typed; it is kept for whoever reads next.
class QuietKeys {
 public:
  QuietKeys();
  QuietKeys(const QuietKeys&) = delete;
  QuietKeys& operator=(const QuietKeys&) = delete;
  ~QuietKeys();

 private:
  const bool was_shown_;
};

}  // namespace rkllm_mcp
