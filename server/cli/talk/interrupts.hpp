// While an object of this class exists, Ctrl-C (SIGINT) does not end the program; taken() tells of it. Make it before
// other threads are started: they inherit that SIGINT is blocked. Threads: taken() from any.
#pragma once

#include <csignal>

namespace rkllm_mcp {

class Interrupts {
 public:
  Interrupts();  // throws std::system_error
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();

  bool taken() const;  // whether Ctrl-C was pressed since the last call; does not wait

 private:
  sigset_t before_{};
  int descriptor_;
};

}  // namespace rkllm_mcp
