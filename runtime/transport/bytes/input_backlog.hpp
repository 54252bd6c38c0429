// Input that has been read but cannot be handled yet, since too many answers wait for the client to read them. It is
// kept until they have left, and nothing more is read from the client meanwhile. For connections that take their input
// message by message.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class InputBacklog {
 public:
  // `take` says how many of the bytes it has taken: all, unless the channel is congested. The channel outlives this.
  using TakeFunction = std::function<std::size_t(std::string_view)>;
  InputBacklog(Channel& channel, TakeFunction take) : channel_(channel), take_(std::move(take)) {}

  bool empty() const { return kept_.empty(); }
  void receive(std::string_view bytes) {
    if (kept_.empty()) return offer(bytes);
    kept_.append(bytes);
  }
  // The channel is ready again.
  void go_on() {
    if (kept_.empty()) return;
    offer(std::exchange(kept_, {}));
    if (kept_.empty()) channel_.resume_input();
  }

 private:
  void offer(std::string_view bytes) {
    bytes.remove_prefix(take_(bytes));
    kept_.assign(bytes);
    if (!kept_.empty()) channel_.hold_input();
  }

  Channel& channel_;
  const TakeFunction take_;
  std::string kept_;
};

}  // namespace rkllm_mcp
