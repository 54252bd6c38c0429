// Connections that a limit keeps out, while their clients are being told so: at most kAtATime at once. Beyond that,
// connections are closed without a word.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel_set.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What a client is told that this limit keeps out, in the words of the protocol above, with its framing.
using RefusalFunction = std::function<std::string(Limit)>;

class TurnedAway {
 public:
  bool has_room() const { return channels_.size() < kAtATime; }
  void add(Channel& channel, std::string_view goodbye) {
    channels_.add(channel);
    channel.write({goodbye});
    channel.close();
  }

 private:
  static constexpr std::size_t kAtATime = 64;

  ChannelSet channels_;
};

}  // namespace rkllm_mcp
