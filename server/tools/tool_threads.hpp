// A few threads beside the event loop for work that waits: for the network, mostly. Threads: submit() from one; the
// work is done on threads of its own, which are started as they are needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace rkllm_mcp {

class ToolThreads {
 public:
  // At most so many pieces of work at a time, and so many that wait.
  ToolThreads(std::size_t threads, std::size_t waiting);
  ToolThreads(const ToolThreads&) = delete;
  ToolThreads& operator=(const ToolThreads&) = delete;
  // Does not wait: work under way goes on, and may outlive this. What has not begun is dropped.
  ~ToolThreads();

  // False if too many wait, or if no thread could be started. `work` throws nothing.
  bool submit(std::function<void()> work);
  // Drops what has not begun, takes no more, and waits for what is under way; false if that takes too long. Any thread.
  bool end(std::chrono::steady_clock::time_point deadline);

 private:
  struct Shared;  // with the threads, which may outlive this
  const std::shared_ptr<Shared> shared_;
};

}  // namespace rkllm_mcp
