// How much input is handled at a time, and where the rest of it waits.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"
#include "transport/bytes/channel.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// How much of what has been received is handled at a time, before the loop calls what else it has to call: a few
// messages, and no more of them than a few milliseconds allow, since one read can bring ten thousand small ones. It
// begins when it is made. Also of a batch, and of datagrams.
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

// Input that has been read but cannot be handled yet: too many answers wait for the client to read them, the layer
// above has enough to do, or its slice of the input is over. For connections that take their input message by message.
// Nothing more is read from the client while much waits.
class InputBacklog {
 public:
  // `next_slice` is called later, while the connection lives, when a slice has ended before the input: it should call
  // go_on(). The channel outlives this.
  InputBacklog(Channel& channel, std::function<void()> next_slice)
      : channel_(channel), next_slice_(std::move(next_slice)) {}

  // Whether nothing waits. False also while `take` (see below) is running, since it may leave some of its bytes here.
  bool empty() const { return kept_.empty() && !is_handing_over_; }
  // To be called for each message; slice_is_over() says whether the next one has to wait.
  void count_message() { slice_.count_message(); }
  bool slice_is_over() const { return slice_.is_over(); }

  // Calls `take` with what has just been read; the bytes that `take` returns could not be handled now, and wait here.
  // If bytes wait here already, `take` is not called: what has just been read waits behind them.
  template <class Take>
  void receive(std::string_view bytes, const Take& take) {
    if (!kept_.empty()) return keep(bytes);
    slice_ = {};
    is_handing_over_ = true;
    const std::string_view rest = take(bytes);
    is_handing_over_ = false;
    if (rest.empty()) return;
    keep(rest);
    if (slice_is_over()) channel_.later(next_slice_);
  }
  // Calls `take` with what waits, when it may be able to handle more.
  template <class Take>
  void go_on(const Take& take) {
    if (kept_.empty()) return;
    const std::string bytes = std::exchange(kept_, {});
    receive(bytes, take);
    if (kept_.size() < kReadAhead) channel_.resume_input();
  }

 private:
  // Reading on shows that a client has gone. More than this is not read ahead, but for what one read brings.
  static constexpr std::size_t kReadAhead = std::size_t{16} * 1024;

  void keep(std::string_view bytes) {
    kept_.append(bytes);
    if (kept_.size() >= kReadAhead) channel_.hold_input();
  }

  Channel& channel_;
  const std::function<void()> next_slice_;
  std::string kept_;
  bool is_handing_over_ = false;
  InputSlice slice_;
};

}  // namespace rkllm_mcp
