#include "engine/async_queue.hpp"

#include <utility>

namespace rkllm_mcp::sim {

AsyncQueue::AsyncQueue(std::function<void(const RunRequest&)> execute)
    : execute_(std::move(execute)), thread_([this] { work(); }) {}

AsyncQueue::~AsyncQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void AsyncQueue::push(RunRequest request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
  }
  changed_.notify_one();
}

void AsyncQueue::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const RunRequest request = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    execute_(request);
  }
}

}  // namespace rkllm_mcp::sim
