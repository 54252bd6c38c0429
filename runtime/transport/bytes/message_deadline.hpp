// How long a client may take for one message, from its first byte to its last. The time in which the client is not
// read, since it has too many answers to take or the layer above has enough to do, is not its own and does not count.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"
#include "deadline.hpp"
#include "transport/bytes/channel.hpp"

#include <chrono>
#include <functional>
#include <utility>

namespace rkllm_mcp {

class MessageDeadline {
 public:
  // `time` 0: no limit. The channel outlives this. What `expired` throws ends the connection.
  MessageDeadline(Channel& channel, std::chrono::milliseconds time, std::function<void()> expired)
      : channel_(channel),
        time_(time),
        expired_(std::move(expired)),
        deadline_(channel.loop(), [this] { channel_.contain([this] { check(); }); }) {}

  // A message has begun.
  void begin() {
    if (time_.count() == 0) return;
    began_ = Clock::now();
    paused_before_ = channel_.time_paused();
    deadline_.set_at(began_ + time_);
  }
  // It has ended.
  void clear() { deadline_.clear(); }

 private:
  void check() {
    if (!channel_.is_open()) return;
    if (channel_.input_paused()) return deadline_.set_after(time_);
    const auto end = began_ + time_ + (channel_.time_paused() - paused_before_);
    if (end > Clock::now()) return deadline_.set_at(end);
    expired_();
  }

  Channel& channel_;
  const std::chrono::milliseconds time_;
  const std::function<void()> expired_;
  Clock::time_point began_;
  Clock::duration paused_before_{0};  // of the channel's time, when the message began
  Deadline deadline_;
};

}  // namespace rkllm_mcp
