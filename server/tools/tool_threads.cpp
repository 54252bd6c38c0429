#include "tools/tool_threads.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rkllm_mcp {

struct ToolThreads::Shared {
  Shared(std::size_t threads_at_most, std::size_t waiting_at_most)
      : most_threads(threads_at_most), most_waiting(waiting_at_most) {}

  const std::size_t most_threads;
  const std::size_t most_waiting;
  std::mutex mutex;  // guards all that follows
  std::condition_variable news;
  std::deque<std::function<void()>> waiting;
  std::size_t threads = 0;
  std::size_t idle = 0;
  bool ending = false;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      news.wait(lock, [this] { return ending || !waiting.empty(); });
      --idle;
      if (waiting.empty()) break;
      auto piece = std::move(waiting.front());
      waiting.pop_front();
      lock.unlock();
      piece();
      piece = nullptr;  // what it held is released here
      lock.lock();
    }
    --threads;
    news.notify_all();
  }
};

ToolThreads::ToolThreads(std::size_t threads, std::size_t waiting)
    : shared_(std::make_shared<Shared>(threads, waiting)) {}

ToolThreads::~ToolThreads() { end(std::chrono::steady_clock::now()); }

bool ToolThreads::submit(std::function<void()> work) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->ending || shared_->waiting.size() >= shared_->most_waiting) return false;
  if (shared_->idle <= shared_->waiting.size() && shared_->threads < shared_->most_threads) {
    try {
      // Nothing waits for it to end but end(): what it does last is to say so.
      std::thread([shared = shared_] { shared->work(); }).detach();
      ++shared_->threads;
    } catch (const std::system_error&) {
      if (shared_->threads == 0) return false;
    }
  }
  shared_->waiting.push_back(std::move(work));
  shared_->news.notify_all();
  return true;
}

bool ToolThreads::end(std::chrono::steady_clock::time_point deadline) {
  std::deque<std::function<void()>> dropped;  // released without the lock
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  dropped.swap(shared_->waiting);
  shared_->news.notify_all();
  const bool has_ended = shared_->news.wait_until(lock, deadline, [this] { return shared_->threads == 0; });
  lock.unlock();
  return has_ended;
}

}  // namespace rkllm_mcp
