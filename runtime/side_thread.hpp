// A thread beside the event loop, for what would hold the loop up: work is done there, one piece after the other, and
// what follows of it is done on the loop.
//
// Threads: everything on the loop, but for the work itself. The thread is started by the first piece of work. The
// destructor waits for the piece under way; what has not begun, and what has not been followed up, is dropped.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

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
    std::exception_ptr fault;  // of the work
    WorkGuard loop_stays;
  };

  void work();

  asio::io_context& loop_;
  const std::shared_ptr<char> alive_ = std::make_shared<char>();  // looked at by what follows, on the loop
  std::mutex mutex_;                                              // guards the three below
  std::condition_variable news_;
  std::deque<Piece> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rkllm_mcp
