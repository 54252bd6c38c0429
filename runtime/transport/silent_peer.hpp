// The peer of requests whose sender is not on any connection, or waits for nothing more there: it sends nothing, and
// takes every answer. It has the address by which others know the sender.
//
// Threads: event loop only.
#pragma once

#include "transport/peer.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class SilentPeer final : public ConnectedPeer {
 public:
  SilentPeer(TransportKind transport, std::string address)
      : ConnectedPeer({.transport = transport, .address = std::move(address)}) {}

  void send(std::string_view /*message*/) override {}
  void hold_input() override {}
  void resume_input() override {}
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }
  bool ready() const override { return true; }
  bool closed() const override { return false; }
  void close() override {}
};

}  // namespace rkllm_mcp
