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
  SilentPeer(TransportKind transport, std::string address) : transport_(transport), address_(std::move(address)) {}

  void send(std::string_view /*message*/) override {}
  void hold_input() override {}
  void resume_input() override {}
  bool has_room_for(std::size_t /*bytes*/) const override { return true; }
  bool ready() const override { return true; }
  bool closed() const override { return false; }
  void close() override {}
  TransportKind transport() const override { return transport_; }
  std::string address() const override { return address_; }

 private:
  const TransportKind transport_;
  const std::string address_;
};

}  // namespace rkllm_mcp
