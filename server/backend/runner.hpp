// One thread that executes jobs in the order in which they were posted. A job must not throw: what it
// throws ends the process.
//
// Threads: any; the destructor, execute() and wait_until_idle() any but the runner's own.
#pragma once

#include "thread.hpp"

#include <cstddef>
#include <deque>
#include <functional>

namespace rkllm_mcp {

class Runner {
 public:
  Runner() : thread_([this] { work(); }) {}
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner();  // waits for the jobs that are still queued

  void post(std::function<void()> job);
  // As post(), and waits until the job has ended.
  void execute(const std::function<void()>& job);
  // False if there are jobs at `deadline` that have not ended.
  bool wait_until_idle(Clock::time_point deadline);

 private:
  void work();

  Mutex mutex_;
  ConditionVariable news_;
  ConditionVariable idle_;
  std::deque<std::function<void()>> jobs_;
  bool busy_ = false;
  bool stopping_ = false;
  Thread thread_;  // last: it uses all of the above
};

}  // namespace rkllm_mcp
