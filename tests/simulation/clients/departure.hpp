// When a client has left, and since when the server can know: from then on nothing may go on for it.
#pragma once

#include "simulation/world/sim_connection.hpp"

#include "clock.hpp"

#include <chrono>

namespace rkllm_mcp::simulation {

class Departure {
 public:
  void leave() {
    has_left_ = true;
    at_ = Clock::now();
  }
  bool has_left() const { return has_left_; }

  // Whether the server has had every occasion to notice. To be asked after each step.
  bool must_be_noticed(const SimConnection& connection) {
    if (!has_left_) return false;
    // Time that passes before the server has read the end of the input is not counted.
    if (!connection.server_has_seen_end()) at_ = Clock::now();
    if (Clock::now() - at_ < kTimeToNotice) return false;
    return ++steps_ > kStepsToNotice;
  }

 private:
  // A server finds out within a second, if it writes to a client of which nothing more comes; each thing that is to
  // happen then may be put off by a few steps.
  static constexpr int kStepsToNotice = 60;
  static constexpr std::chrono::seconds kTimeToNotice{5};

  bool has_left_ = false;
  Clock::time_point at_;
  int steps_ = 0;
};

}  // namespace rkllm_mcp::simulation
