// Carries rkllm_abort from any thread to the run that is going on. Raising it while nothing runs has no effect: a run
// lowers it first.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace rkllm_mcp::sim {

class AbortSignal {
 public:
  void lower() { raised_.store(false, std::memory_order_relaxed); }

  void raise() {
    {
      // Under the lock, so that a sleeper that has just looked does not miss it.
      const std::lock_guard lock(mutex_);
      raised_.store(true, std::memory_order_relaxed);
    }
    wake_.notify_all();
  }

  bool raised() const noexcept { return raised_.load(std::memory_order_relaxed); }

  // Sleeps until `deadline`, or until the signal is raised.
  void sleep_until(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, deadline, [this] { return raised(); });
  }

 private:
  std::atomic<bool> raised_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace rkllm_mcp::sim
