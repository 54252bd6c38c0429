// The way from threads to the event loop for work that may outlive the loop. Share one: each thread holds it, and
// whoever owns it closes it before the loop ends.
//
// Threads: any; a mutex guards it.
#pragma once

#include "run_loop.hpp"

#include <asio/io_context.hpp>

#include <mutex>

namespace rkllm_mcp {

class LoopOutlet {
 public:
  explicit LoopOutlet(asio::io_context& loop) : loop_(&loop) {}
  LoopOutlet(const LoopOutlet&) = delete;
  LoopOutlet& operator=(const LoopOutlet&) = delete;

  // Does nothing once it is closed.
  template <class Action>
  void post(const Action& action) {
    const std::lock_guard lock(mutex_);
    if (loop_ != nullptr) post_patiently(*loop_, action);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

 private:
  std::mutex mutex_;
  asio::io_context* loop_;  // null: it is closed
};

}  // namespace rkllm_mcp
