// Slows down clients that guess access tokens. The more wrong tokens come from an address, the longer each further one
// waits for its refusal. A right token is never kept waiting, whatever else comes from its address: many clients may
// share one (a proxy's, say), and none of them can be locked out by another.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rkllm_mcp {

class GuessThrottle {
 public:
  using Clock = rkllm_mcp::Clock;
  using Pause = std::chrono::milliseconds;

  static constexpr unsigned kFree = 5;  // wrong tokens that are refused at once: people mistype
  static constexpr Pause kFirst{100};   // then this pause, twice as long each time
  static constexpr Pause kLongest{3'200};
  static constexpr std::chrono::minutes kForgotten{5};  // after the last wrong one
  static constexpr std::size_t kMost = 1024;  // addresses that are remembered; beyond, the least recent is forgotten

  // A wrong token has come: how long its refusal is to wait. `peer` is an address with its port, or that of a Unix
  // socket's user; of IPv6 the network counts, since its owner has all addresses in it.
  Pause failed(std::string_view peer, Clock::time_point now);
  std::size_t size() const { return failures_.size(); }

 private:
  struct Failures {
    unsigned count = 0;
    Clock::time_point last;
  };

  void make_room(Clock::time_point now);

  std::unordered_map<std::string, Failures> failures_;
};

}  // namespace rkllm_mcp
