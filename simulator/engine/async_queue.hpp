// Runs that rkllm_run_async has accepted: first in, first out, on one thread of its own.
#pragma once

#include "engine/run_request.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace rkllm_mcp::sim {

// Thread-safe. The queue is as long as its users make it, as with the vendor.
class AsyncQueue {
 public:
  // `execute` is called for each request, in order, on the queue's thread.
  explicit AsyncQueue(std::function<void(const RunRequest&)> execute);
  // Ends after the requests that it holds; not to be called on the queue's own thread.
  ~AsyncQueue();
  AsyncQueue(const AsyncQueue&) = delete;
  AsyncQueue& operator=(const AsyncQueue&) = delete;

  void push(RunRequest request);

 private:
  void work();

  const std::function<void(const RunRequest&)> execute_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<RunRequest> waiting_;
  bool closed_ = false;
  std::thread thread_;  // last: it uses all of the above
};

inline AsyncQueue::AsyncQueue(std::function<void(const RunRequest&)> execute)
    : execute_(std::move(execute)), thread_([this] { work(); }) {}

inline AsyncQueue::~AsyncQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

inline void AsyncQueue::push(RunRequest request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
  }
  changed_.notify_one();
}

inline void AsyncQueue::work() {
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
