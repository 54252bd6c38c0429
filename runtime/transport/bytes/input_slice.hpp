// How much of what has been received is handled at a time, before the loop calls what else it has to call: a few
// messages, and no more of them than a few milliseconds allow. It begins when it is made.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"

#include <chrono>

namespace rkllm_mcp {

class InputSlice {
 public:
  void count_message() { ++handled_; }
  bool is_over() const { return handled_ >= kMessages || Clock::now() >= until_; }

 private:
  static constexpr int kMessages = 16;
  static constexpr std::chrono::milliseconds kTime{5};

  int handled_ = 0;
  Clock::time_point until_ = Clock::now() + kTime;
};

}  // namespace rkllm_mcp
