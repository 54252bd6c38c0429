// How the event loop is run, and how work gets to it from threads.
//
// run_loop() is the one place that catches what callbacks throw. An exception ends the exchange that caused it, and
// nothing else: the code that serves the exchange ends it while the exception passes (or_else()) and throws on; there
// the exception is reported, and the loop takes its next callback.
#pragma once

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>

namespace rkllm_mcp {

// A callback that takes longer is told of: while it runs, no other client is heard.
//
// What counts is the thread's processor time, so that a machine that is busy with other things is not taken for a slow
// callback. Reading that time is a system call, and so it is read no more often than every 5 ms: what is told may be up
// to 5 ms too little, never too much, and a callback of less than 55 ms may go untold.
inline constexpr std::chrono::milliseconds kLongestCallback{50};

using SlowFunction = std::function<void(std::chrono::milliseconds processor_time)>;

// As loop.run(); `slow` is called after each callback that took longer than kLongestCallback, as far as is said above.
void run_watched(asio::io_context& loop, const SlowFunction& slow);

using FaultReport = std::function<void(const std::exception_ptr& fault)>;

// Runs the loop until it is stopped or out of work. `report` is called on the loop's thread for each exception that a
// callback has let through, `slow` as by run_watched(); null: callbacks are not measured.
void run_loop(asio::io_context& loop, const FaultReport& report, const SlowFunction& slow = {});

// Throws the exception from a callback of its own, so that it is reported: for code that has ended the exchange
// already, and has more to do in the present callback.
void pass_on(asio::io_context& loop, std::exception_ptr fault);

// asio::post() for code that could tell nobody of a failure: if there is no memory it tries again for a second, and
// throws std::bad_alloc only after that. `action` can be copied. It sleeps between the tries, which on the event loop's
// own thread holds everybody up.
template <class Action>
void post_patiently(asio::io_context& loop, const Action& action) {
  constexpr int kTimes = 100;
  for (int time = 1; time < kTimes; ++time) {
    try {
      return asio::post(loop, action);
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  asio::post(loop, action);
}

// asio::post() for news that may be lost. It is dropped, and false returned, where `most` of its kind wait for the loop
// already, since they come faster than it takes them, or where there is no memory. `waiting` counts them, and must
// outlive the action, which `make_action` makes only if it is posted.
template <class MakeAction>
bool post_unless_many(asio::io_context& loop, std::atomic<int>& waiting, int most, const MakeAction& make_action) {
  if (waiting.fetch_add(1) >= most) {
    --waiting;
    return false;
  }
  try {
    asio::post(loop, [&waiting, action = make_action()] {
      --waiting;
      action();
    });
    return true;
  } catch (const std::bad_alloc&) {
    --waiting;
    return false;
  }
}

// What is said of a fault: the exception's own words, if it has any.
std::string text_of_fault(const std::exception_ptr& fault);

// Runs `action`; if that throws, calls `ending`, and then throws the same exception again.
template <class Action, class Ending>
void or_else(Action action, Ending ending) {
  try {
    action();
  } catch (...) {
    ending();
    throw;
  }
}

// The way from threads to the event loop for work that may outlive the loop. Copies share one state: each thread has a
// copy, and whoever made the first closes it before the loop ends.
//
// Threads: any; a mutex guards it.
class WayToLoop {
 public:
  explicit WayToLoop(asio::io_context& loop) : inside_(std::make_shared<Inside>(&loop)) {}

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
