// A process that this one has started: what the system tells of it, and how it is killed. WorkerProcess says when.
// A class apart from WorkerProcess, so that a simulation can have processes of its own (tests/simulation).
//
// Threads: any.
#pragma once

#include "process/descriptor.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace rkllm_mcp {

class ChildProcess {
 public:
  struct Command {
    std::string program;
    std::vector<std::string> arguments;
  };
  struct End {
    int signal = 0;  // that killed it; 0: it has exited
    int exit_code = 0;
  };
  enum class Wait { kNo, kYes };

  // The control socket, as the process itself sees it.
  static constexpr int kControlSocket = 3;

  // Spawns it, with that socket, and with outputs that go to `log`. Throws std::system_error.
  ChildProcess(const Command& command, const Descriptor& control, const Descriptor& log);

  pid_t id() const { return id_; }
  // A descriptor that becomes readable when the process ends. Empty on Linux older than 5.3.
  Descriptor end_news() const;
  bool is_stopped() const;  // by SIGSTOP
  // A process that has ended stays a zombie until it is reaped, so that its number is given to no other one before.
  bool has_ended(Wait wait) const;
  void kill() const;
  // Waits for the end. Once; nothing else is asked after that.
  End reap() const;

 private:
  const pid_t id_;
};

}  // namespace rkllm_mcp
