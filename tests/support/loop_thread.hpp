// An event loop with a thread that runs it, for what needs one beside the test.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <thread>

namespace rkllm_mcp::test {

class LoopThread {
 public:
  LoopThread() : thread_([this] { loop_.run(); }) {}
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() {
    loop_.stop();
    thread_.join();
  }

  asio::io_context& loop() { return loop_; }

 private:
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
  std::thread thread_;  // last: it uses the above
};

}  // namespace rkllm_mcp::test
