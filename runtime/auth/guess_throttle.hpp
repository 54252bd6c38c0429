// Slows down clients that guess access tokens. The more wrong tokens come from an address, the longer each further one
// waits for its refusal. The refusals of one address are given one after the other, on however many connections the
// tokens come. When too many wait, no further token of that address is even looked at: else guesses could go on without
// waiting. (Gate makes an exception for tokens that have come from the address before.)
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace rkllm_mcp {

class GuessThrottle {
 public:
  using Pause = std::chrono::milliseconds;

  static constexpr unsigned kFree = 5;  // wrong tokens that are refused at once: people mistype
  static constexpr Pause kFirst{100};   // then this pause, twice as long each time
  static constexpr Pause kLongest{3'200};
  static constexpr std::chrono::minutes kForgotten{5};  // after the last wrong token
  static constexpr std::size_t kMost = 1024;  // addresses that are remembered; beyond, the least recent is forgotten

  static constexpr std::size_t kMostWaiting = 16;  // refusals that wait for one address

  // A wrong token has come: how long its refusal would wait if it were alone. For datagrams, whose senders can be
  // forged: nobody must be able to fill the line of others. `peer` is an address with its port; see source_of().
  Pause failed(std::string_view peer, Clock::time_point now);
  // As failed(), but behind the refusals of this address that wait already; from now on it is one of them. 0 if it is
  // refused at once: it is one of the first, or too many wait.
  Pause line_up(std::string_view peer, Clock::time_point now);
  // Whether so many refusals wait for this address that no further token of it is looked at. Forgets those that have
  // been given by `now`.
  bool is_full(std::string_view peer, Clock::time_point now);
  std::size_t size() const { return failures_.size(); }

 private:
  struct Failures {
    unsigned count = 0;
    Clock::time_point last;
    std::deque<Clock::time_point> line{};  // when each refusal that waits is given
  };

  Failures& count_one(const std::string& source, Clock::time_point now);
  static Pause pause_after(unsigned count);
  void make_room(Clock::time_point now);

  std::unordered_map<std::string, Failures> failures_;
};

}  // namespace rkllm_mcp
