// A thread beside the event loop, for work that would hold the loop up. It does one piece of work after the other; what
// is to be done with the outcome is done on the loop.
//
// Threads: call every function on the event loop; only `work` runs on the thread. The thread is started by the first
// piece of work. The destructor waits for the piece that is being worked on; pieces that have not begun, and `then`
// functions that have not been called, are dropped.
#pragma once

#include "lifetime.hpp"
#include "thread.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <deque>
#include <exception>
#include <functional>
#include <memory>

namespace rkllm_mcp {

class SideThread {
 public:
  explicit SideThread(asio::io_context& loop) : loop_(loop) {}
  SideThread(const SideThread&) = delete;
  SideThread& operator=(const SideThread&) = delete;
  ~SideThread();

  // Starts the thread, if that has not been done. False if there is no memory for one: run() would then do the work on
  // the loop, and hold it up.
  bool start();

  // If `work` throws, that is thrown on the loop, and `then` is not called. The loop does not run out of work before.
  void run(std::function<void()> work, std::function<void()> then);

 private:
  using WorkGuard = asio::executor_work_guard<asio::io_context::executor_type>;
  struct Piece {
    std::function<void()> work;
    std::function<void()> then;
    WorkGuard loop_stays;
    std::exception_ptr fault{};  // of the work
  };

  void work();

  asio::io_context& loop_;
  const Lifetime alive_;  // once it is gone, no `then` is called any more
  Mutex mutex_;           // guards the three below
  ConditionVariable news_;
  std::deque<std::shared_ptr<Piece>> waiting_;  // shared with the loop, once the work is done
  bool stopping_ = false;
  Thread thread_;
};

}  // namespace rkllm_mcp
