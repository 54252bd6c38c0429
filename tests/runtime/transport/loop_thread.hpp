// An event loop on a thread of its own, and ways for a test to reach into it and to wait for what happens there.
#pragma once

#include "run_loop.hpp"
#include "support/eventually.hpp"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

constexpr std::chrono::seconds kPatience{60};  // far above what anything here takes, sanitizers included

// Something that happens once and can be waited for from another thread. Copies are about the same event.
class Event {
 public:
  void happen() const { promise_->set_value(); }
  bool happens_within(std::chrono::milliseconds time) const {
    return future_.wait_for(time) == std::future_status::ready;
  }
  bool happens() const { return happens_within(kPatience); }

 private:
  std::shared_ptr<std::promise<void>> promise_ = std::make_shared<std::promise<void>>();
  std::shared_future<void> future_ = promise_->get_future();
};

class LoopThread {
 public:
  LoopThread() : thread_([this] { run(); }) { std::signal(SIGPIPE, SIG_IGN); }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() {
    for (const auto& action : before_end_) call(action);
    io_.stop();
    thread_.join();
  }

  asio::io_context& io() { return io_; }

  // From here on what callbacks throw is counted; without this it ends the test program.
  void expect_faults() {
    call([this] { expects_faults_ = true; });
  }
  bool has_faults(std::size_t count) {
    return eventually([this, count] { return faults_ == count; });
  }

  // Runs `action` on the loop before it ends: to let go of what belongs to the loop and must not outlive it.
  void before_end(std::function<void()> action) { before_end_.push_back(std::move(action)); }

  // Runs `action` on the loop and returns what it returns, or throws what it throws.
  template <class Action>
  std::invoke_result_t<Action&> call(Action action) {
    std::packaged_task<std::invoke_result_t<Action&>()> task(std::move(action));
    auto result = task.get_future();
    asio::post(io_, std::move(task));
    if (result.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("the loop is stuck");
    return result.get();
  }

  // Whether `condition`, asked on the loop again and again, becomes true.
  bool eventually(const std::function<bool()>& condition) {
    return test::eventually([&] { return call(condition); }, kPatience);
  }

 private:
  void run() {
    run_loop(io_, [this](const std::exception_ptr&) {
      if (!expects_faults_) std::terminate();
      ++faults_;
    });
  }

  bool expects_faults_ = false;  // both on the loop
  std::size_t faults_ = 0;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  std::vector<std::function<void()>> before_end_;
  std::thread thread_;
};

// An object that is built, used and destroyed on a loop.
template <class T>
class OnLoop {
 public:
  template <class... Arguments>
  explicit OnLoop(LoopThread& loop, Arguments&&... arguments) : loop_(loop) {
    loop_.call([&] { object_ = std::make_unique<T>(loop_.io(), std::forward<Arguments>(arguments)...); });
  }
  OnLoop(const OnLoop&) = delete;
  OnLoop& operator=(const OnLoop&) = delete;
  ~OnLoop() {
    loop_.call([this] { object_.reset(); });
  }

  template <class Action>
  auto call(Action action) {
    return loop_.call([&] { return action(*object_); });
  }
  template <class Condition>
  bool eventually(Condition condition) {
    return loop_.eventually([&] { return condition(*object_); });
  }

 private:
  LoopThread& loop_;
  std::unique_ptr<T> object_;
};

}  // namespace rkllm_mcp::test
