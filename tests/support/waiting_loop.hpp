// An event loop that runs as long as the test waits, in the test's own thread.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace rkllm_mcp::test {

class WaitingLoop {
 public:
  asio::io_context& loop() { return loop_; }
  // Runs the loop until that is so. False if it has not become so in time, even of a busy machine.
  bool until(const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop_.run_one_for(std::chrono::milliseconds(5));  // then it looks again: threads do not wake this loop
    }
    return true;
  }
  void until(const std::function<bool()>& is_so, const std::string& complaint) {
    if (!until(is_so)) throw std::runtime_error(complaint);
  }
  // All that the loop can do now.
  void settle() { loop_.poll(); }

 private:
  asio::io_context loop_;
  const asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
};

}  // namespace rkllm_mcp::test
