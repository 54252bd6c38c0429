// A client that sends and takes one message per line: what stdio, TCP and Unix sockets share.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/channel.hpp"
#include "transport/http_guard.hpp"
#include "transport/line_framer.hpp"
#include "transport/peer.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp {

class LineConnection final : public Peer, public Channel::Owner {
 public:
  struct Identity {
    TransportKind transport;
    std::string address;
  };

  // Asks `accept` for the function that takes the messages and starts reading. On TCP, a connection that turns out to
  // speak HTTP is cut off unanswered.
  static void start(const std::shared_ptr<Channel>& channel, Identity identity, const ConnectionLimits& limits,
                    const AcceptFunction& accept);

  void send(std::string_view message) override { channel_->write({message, "\n"}); }
  bool ready() const override { return channel_->ready(); }
  void close() override { channel_->close(); }
  bool closed() const override { return !channel_->is_open(); }
  TransportKind transport() const override { return identity_.transport; }
  std::string address() const override { return identity_.address; }

 private:
  LineConnection(std::shared_ptr<Channel> channel, Identity identity, const ConnectionLimits& limits);

  void channel_received(std::string_view bytes) override;
  void channel_ended() override;
  void channel_ready() override { became_ready(); }
  void channel_closed() override;
  void go_away() override { close(); }

  std::shared_ptr<Channel> channel_;
  Identity identity_;
  HttpGuard http_guard_;
  LineFramer framer_;
  ReceiveFunction receive_;
};

}  // namespace rkllm_mcp
