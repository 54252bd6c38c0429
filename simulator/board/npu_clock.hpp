// The time that the NPU takes. It computes one thing at a time, whichever handle asks for it, so models that have a
// pace share it.
#pragma once

#include <chrono>

namespace rkllm_mcp::sim {

class NpuClock {
 public:
  using Clock = std::chrono::steady_clock;

  // Books the NPU for `seconds`, from `earliest` or, if it is taken then, from when it is free. Returns the end. Any
  // thread.
  static Clock::time_point book(Clock::time_point earliest, double seconds);

  // Gives back what is left of a booking that ends at `end`, if none has come behind it. Any thread.
  static void give_back(Clock::time_point end);
};

}  // namespace rkllm_mcp::sim
