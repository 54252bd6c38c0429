#include "backend/runner.hpp"

#include <utility>

namespace rkllm_mcp {

Runner::~Runner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Runner::post(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  news_.notify_one();
}

void Runner::execute(const std::function<void()>& job) {
  bool has_ended = false;  // guarded by mutex_
  post([this, &job, &has_ended] {
    job();
    const std::lock_guard lock(mutex_);
    has_ended = true;
  });
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&has_ended] { return has_ended; });
}

bool Runner::wait_until_idle(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return jobs_.empty() && !busy_; });
}

void Runner::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    job();
    job = nullptr;  // what it held is released here, not under the lock
    lock.lock();
    busy_ = false;
    idle_.notify_all();
  }
}

}  // namespace rkllm_mcp
