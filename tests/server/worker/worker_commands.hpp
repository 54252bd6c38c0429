// Programs that stand in for workers, and what they print.
#pragma once

#include "support/paths.hpp"
#include "worker/child_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

inline constexpr std::chrono::seconds kWorkerPatience{60};

inline ChildProcess::Command shell(const std::string& script) { return {"/bin/sh", {"-c", script}}; }
// Says nothing, and ends with its control socket.
inline ChildProcess::Command silent_worker() { return shell("exec cat <&3 >/dev/null"); }
// Answers as it is told, see scripted_worker.cpp.
inline ChildProcess::Command scripted_worker(const Json& script) {
  return {built_program("scripted_worker"), {script.dump()}};
}

// Lines, and what else comes one by one on other threads. Any thread.
class Gathered {
 public:
  void add(std::string_view what) {
    const std::lock_guard lock(mutex_);
    all_.emplace_back(what);
    news_.notify_all();
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  // Waits until this one has come. False if it has not in time.
  bool has(std::string_view what) const {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, kWorkerPatience,
                          [&] { return std::find(all_.begin(), all_.end(), what) != all_.end(); });
  }
  // The first one, once there is one; empty if none has come in time.
  std::string first() const {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, kWorkerPatience, [&] { return !all_.empty(); });
    return all_.empty() ? std::string() : all_.front();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable news_;
  std::vector<std::string> all_;
};

}  // namespace rkllm_mcp::test
