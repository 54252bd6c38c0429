// The open connections of one transport: keeps them alive, counts them, ends them together; and those that a limit
// keeps out.
//
// Threads: belongs to the event loop.
#pragma once

#include "counts.hpp"
#include "lifetime.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/limits.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rkllm_mcp {

class ChannelSet {
 public:
  ChannelSet() = default;
  ChannelSet(const ChannelSet&) = delete;
  ChannelSet& operator=(const ChannelSet&) = delete;
  ~ChannelSet();  // closes what is left without telling its owners

  // Keeps the channel until it has closed, and counts it for `client`: the machine or user that it comes from.
  void add(Channel& channel, const std::string& client = {});
  // Which limit keeps a further connection of that client out, if one does.
  std::optional<Limit> objection(const std::string& client, const ConnectionLimits& limits) const;
  std::size_t size() const { return channels_.size(); }
  // Has every connection say goodbye, write what is queued, and close. ConnectionLimits::stall bounds each time without
  // progress, not the whole.
  void close_all();
  void abort_all();  // at once; the owners are told in the next pass of the loop

 private:
  // Shared with the channels' notices, which may come after the set has gone.
  const Lifetime alive_;
  std::unordered_set<std::shared_ptr<Channel>> channels_;
  std::unordered_map<std::string, std::size_t> of_client_;  // connections of each
};

// Returns the bytes that a client gets if this limit keeps it out: a message of the protocol above, with its framing.
using RefusalFunction = std::function<std::string(Limit)>;

// Connections that a limit keeps out, while their clients are being told so. Whoever adds one asks has_room() first,
// and closes it without a word if there is none.
//
// Threads: belongs to the event loop.
class RefusedConnections {
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
