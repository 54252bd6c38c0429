// One worker: a process of this same program that holds the runtime library, so that the library's death is not the
// server's. It is spawned, never forked, serves a model on each pair of sockets that it is handed over its control
// socket, and ends when that is closed. What it prints becomes lines of a log.
//
// Threads: any. One thread of its own reads the log and waits for the end.
#pragma once

#include "process/descriptor.hpp"
#include "process/process_output.hpp"
#include "thread.hpp"
#include "worker/child_process.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class WorkerProcess {
 public:
  using Command = ChildProcess::Command;
  using End = ChildProcess::End;

  // Spawns it. Throws std::system_error. One that has been stopped (SIGSTOP) for `hang` is killed, busy or not.
  WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills it if it still runs, and waits for that

  pid_t id() const { return child_.id(); }
  ProcessOutput& log() { return log_; }

  // Asks it for the place of a model: our ends of its two sockets. If the process has gone, the other ends are closed.
  DescriptorPair open(const std::string& id);
  // Whether it still listens at its control socket.
  bool takes_models() const;
  // Closes the control socket, and kills it if that has not ended it in time.
  void end(std::chrono::milliseconds patience);
  void kill();
  std::optional<End> ended() const;
  std::optional<End> wait_for_end(std::chrono::milliseconds patience) const;

  // `listener` is called when the process ends, at once if it has, on whatever thread. Once forget() has returned, it
  // is not called any more.
  using Listener = std::function<void(const End& end)>;
  void when_ended(const void* key, Listener listener);
  void forget(const void* key);

 private:
  WorkerProcess(const Command& command, ProcessOutput::LineFunction line, std::chrono::milliseconds hang,
                DescriptorPair control, DescriptorPair pipe);
  Thread start_watcher();
  void watch();
  void note_end();

  const std::chrono::milliseconds hang_;
  Descriptor control_;
  ProcessOutput log_;
  const ChildProcess child_;

  mutable Mutex mutex_;
  mutable ConditionVariable news_;
  std::optional<End> end_;

  Mutex listening_;                                          // held while listeners are called
  std::vector<std::pair<const void*, Listener>> listeners_;  // in the order in which they came
  Thread watcher_;                                           // last: it uses all of the above
};

}  // namespace rkllm_mcp
