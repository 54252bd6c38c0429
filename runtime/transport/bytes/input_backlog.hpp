// Input that has been read but cannot be handled yet, since too many answers wait for the client to read them. It is
// kept until they have left, and nothing more is read from the client meanwhile. For connections that take their input
// message by message.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class InputBacklog {
 public:
  explicit InputBacklog(Channel& channel) : channel_(channel) {}  // which outlives this

  bool empty() const { return kept_.empty(); }
  // What cannot be handled now, behind what waits already.
  void keep(std::string_view bytes) {
    if (bytes.empty()) return;
    kept_.append(bytes);
    channel_.hold_input();
  }
  // The channel is ready again: calls `take` with what waits, which keeps what it cannot handle even now.
  template <class Take>
  void go_on(const Take& take) {
    if (kept_.empty()) return;
    const std::string bytes = std::exchange(kept_, {});
    take(bytes);
    if (kept_.empty()) channel_.resume_input();
  }

 private:
  Channel& channel_;
  std::string kept_;
};

}  // namespace rkllm_mcp
