// The way from threads to the event loop for work that may outlive the loop. Copies are one and the same: each thread
// has one, and whoever has the first closes it before the loop ends.
//
// Threads: any; a mutex guards it.
#pragma once

#include "run_loop.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <mutex>

namespace rkllm_mcp {

class LoopOutlet {
 public:
  explicit LoopOutlet(asio::io_context& loop) : inside_(std::make_shared<Inside>(&loop)) {}

  // Does nothing once it is closed.
  template <class Action>
  void post(const Action& action) const {
    const std::lock_guard lock(inside_->mutex);
    if (inside_->loop != nullptr) post_patiently(*inside_->loop, action);
  }
  void close() const {
    const std::lock_guard lock(inside_->mutex);
    inside_->loop = nullptr;
  }

 private:
  struct Inside {
    explicit Inside(asio::io_context* of) : loop(of) {}
    std::mutex mutex{};
    asio::io_context* loop;  // null: it is closed
  };
  std::shared_ptr<Inside> inside_;
};

}  // namespace rkllm_mcp
