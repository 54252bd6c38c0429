// Runs an event loop and tells of every callback that takes long: while it does, no other client is heard.
//
// What counts is the thread's processor time, so that a machine that is busy with other things is not taken for a slow
// callback. Reading that time is a system call, and so it is read no more often than every 5 ms: what is told may be up
// to 5 ms too little, never too much, and a callback of less than 55 ms may go untold.
#pragma once

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>

namespace rkllm_mcp {

inline constexpr std::chrono::milliseconds kLongestCallback{50};

using SlowFunction = std::function<void(std::chrono::milliseconds processor_time)>;

// As loop.run(); `slow` is called after each callback that took longer than kLongestCallback, as far as is said above.
void run_watched(asio::io_context& loop, const SlowFunction& slow);

}  // namespace rkllm_mcp
