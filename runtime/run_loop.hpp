// The one boundary of the event loop: whatever a callback of it throws costs the exchange that caused it, and nothing
// else. Who serves an exchange ends it as the exception passes (or_else()), and lets it go on to here, where it is
// reported; then the loop takes its next callback.
#pragma once

#include "watched_loop.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <thread>

namespace rkllm_mcp {

using FaultReport = std::function<void(const std::exception_ptr& fault)>;

// Runs the loop until it is stopped or out of work. `report` is called on the loop's thread for each exception that a
// callback has let through, `slow` as by run_watched(); null: callbacks are not measured.
void run_loop(asio::io_context& loop, const FaultReport& report, const SlowFunction& slow = {});

// Hands an exception to the boundary, for who has ended the exchange and has more to do in this callback.
void pass_on(asio::io_context& loop, std::exception_ptr fault);

// asio::post() for threads that nobody could tell of a failure: where there is no memory it is tried again, for a second.
// `action` can be copied.
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

// What is said of a fault: the exception's own words, if it has any.
std::string text_of_fault(const std::exception_ptr& fault);

// Runs `action`; if that throws, ends with `ending` what it was for, and lets the exception go on.
template <class Action, class Ending>
void or_else(Action action, Ending ending) {
  try {
    action();
  } catch (...) {
    ending();
    throw;
  }
}

}  // namespace rkllm_mcp
