#include "transport/bytes/channel_set.hpp"

#include <utility>

namespace rkllm_mcp {

ChannelSet::~ChannelSet() {
  for (const auto& channel : std::exchange(channels_, {})) channel->discard();
}

void ChannelSet::add(Channel& channel, const std::string& client) {
  channels_.insert(channel.shared_from_this());
  ++of_client_[client];
  channel.when_finished([this, alive = alive_.watch(), weak = channel.weak_from_this(), client] {
    if (alive.expired()) return;
    if (const auto finished = weak.lock()) channels_.erase(finished);
    if (--of_client_[client] == 0) of_client_.erase(client);
  });
}

std::optional<Limit> ChannelSet::objection(const std::string& client, const ConnectionLimits& limits) const {
  if (size() >= limits.max_connections) return Limit::kConnections;
  const auto known = of_client_.find(client);
  if (known != of_client_.end() && known->second >= limits.max_connections_per_peer) return Limit::kConnectionsPerPeer;
  return std::nullopt;
}

void ChannelSet::close_all() {
  const auto channels = channels_;  // a channel may leave the set meanwhile
  for (const auto& channel : channels) channel->go_away();
}

void ChannelSet::abort_all() {
  for (const auto& channel : channels_) channel->abort();
}

}  // namespace rkllm_mcp
