// Ctrl-C while an answer comes: asked for, instead of ending the program. While an object lives, SIGINT waits for
// taken(). To be made before other threads are. Threads: taken() from any.
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
