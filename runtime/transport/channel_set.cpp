#include "transport/channel_set.hpp"

#include <utility>

namespace rkllm_mcp {

ChannelSet::~ChannelSet() {
  for (const auto& channel : std::exchange(channels_, {})) channel->discard();
}

void ChannelSet::add(const std::shared_ptr<Channel>& channel) {
  channels_.insert(channel);
  channel->when_finished([this, alive = std::weak_ptr(alive_), weak = std::weak_ptr(channel)] {
    if (alive.expired()) return;
    if (const auto finished = weak.lock()) channels_.erase(finished);
  });
}

void ChannelSet::close_all() {
  const auto channels = channels_;  // a channel may leave the set meanwhile
  for (const auto& channel : channels) {
    if (const auto owner = channel->owner()) owner->go_away();
  }
}

void ChannelSet::abort_all() {
  for (const auto& channel : channels_) channel->abort();
}

}  // namespace rkllm_mcp
