// The open connections of one transport: keeps them alive, counts them, ends them together.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/channel.hpp"

#include <cstddef>
#include <memory>
#include <unordered_set>

namespace rkllm_mcp {

class ChannelSet {
 public:
  ChannelSet() = default;
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;
  ~ChannelSet();  // drops what is left, unannounced

  void add(const std::shared_ptr<Channel>& channel);  // until it has closed
  std::size_t size() const { return channels_.size(); }
  // Asks every connection to write what is queued and close. Each takes at most ConnectionLimits::stall.
  void close_all();
  void abort_all();  // at once; the owners are told in the next turn of the loop

 private:
  // Shared with the channels' notices, which may come after the set has gone.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
  std::unordered_set<std::shared_ptr<Channel>> channels_;
};

}  // namespace rkllm_mcp
