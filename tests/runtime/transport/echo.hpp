// The simplest layer above a transport: sends every message back, and remembers what happened. It has faults: "{fault}"
// makes it throw, and it throws when a peer comes while throws_at_accept is set.
#pragma once

#include "loop_thread.hpp"
#include "transport/peer.hpp"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {

struct Echo {
  // All on the loop.
  std::vector<std::shared_ptr<Peer>> peers;  // in the order in which they came
  std::vector<std::string> messages;
  std::size_t closed = 0;
  bool throws_at_accept = false;

  // To be declared before `loop`, which runs what this returns; the peers go with the loop.
  AcceptFunction accept(LoopThread& loop) {
    loop.before_end([this] { peers.clear(); });
    return [this](Peer& peer) -> ReceiveFunction {
      if (std::exchange(throws_at_accept, false)) throw std::bad_alloc();
      peers.push_back(peer.shared_from_this());
      peer.when_closed([this] { ++closed; });
      return [this, weak = peer.weak_from_this()](const Received& received) {
        const auto to = weak.lock();
        if (const auto* text = std::get_if<std::string_view>(&received)) {
          if (*text == "{fault}") throw std::bad_alloc();
          messages.emplace_back(*text);
          to->send(*text);
        } else if (const auto* oversized = std::get_if<Oversized>(&received)) {
          messages.emplace_back("oversized");
          to->send("oversized, limit " + std::to_string(oversized->limit));
        } else if (std::holds_alternative<OtherProtocol>(received)) {
          to->send("another protocol");
        } else {
          messages.emplace_back("end");
          to->close();
        }
      };
    };
  }
};

// For transports that nobody is to reach.
inline ReceiveFunction accept_nobody(Peer&) { return nullptr; }

// Sends `count` numbered messages as fast as the peer takes them, asking ready() before each.
class Flood : public std::enable_shared_from_this<Flood> {
 public:
  static std::shared_ptr<Flood> start(Peer& peer, std::size_t count) {
    auto flood = std::make_shared<Flood>(peer, count);
    flood->go_on();
    return flood;
  }
  Flood(Peer& peer, std::size_t count) : peer_(peer.weak_from_this()), count_(count) {}

  static std::string message(std::size_t number) { return "{\"number\":" + std::to_string(number) + "}"; }
  std::size_t sent() const { return sent_; }

 private:
  void go_on() {
    const auto peer = peer_.lock();
    if (!peer) return;
    while (sent_ < count_ && peer->ready() && !peer->closed()) peer->send(message(sent_++));
    if (sent_ < count_ && !peer->closed()) peer->when_ready([self = shared_from_this()] { self->go_on(); });
  }

  std::weak_ptr<Peer> peer_;
  std::size_t count_;
  std::size_t sent_ = 0;
};

}  // namespace rkllm_mcp::test
