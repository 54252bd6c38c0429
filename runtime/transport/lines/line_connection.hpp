// A client that sends and takes one message per line: what stdio, TCP and Unix sockets share.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel.hpp"
#include "transport/bytes/input_backlog.hpp"
#include "transport/bytes/message_deadline.hpp"
#include "transport/lines/line_framer.hpp"
#include "transport/peer.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class LineConnection final : public ConnectedPeer, public Channel::Owner {
 public:
  // Asks `accept` for the function that takes the messages and starts reading. A connection that does not begin with a
  // message is reported as OtherProtocol and closed, except on stdio: no web page reaches the pipes of whoever started
  // this program, and a stray line in front of its messages must not cost it the only connection that it has.
  static void start(Channel& channel, PeerFacts facts, const ConnectionLimits& limits, const AcceptFunction& accept);

  void send(std::string_view message) override { channel_->write({message, "\n"}); }
  void last(std::string message, std::optional<ErrorCode> /*error*/) override {
    channel_->write({}, std::move(message), "\n");
  }
  bool has_room_for(std::size_t bytes) const override { return channel_->has_room_for(bytes); }
  bool ready() const override { return channel_->ready(); }
  void close() override { channel_->close(); }
  bool closed() const override { return !channel_->is_open(); }

 private:
  LineConnection(Channel& channel, PeerFacts facts, const ConnectionLimits& limits);

  void input_resumed() override { go_on(); }
  void channel_received(std::string_view bytes) override;
  void channel_ended() override;
  void channel_ready() override;
  void channel_closed() override;
  void go_away() override { close(); }

  // Line by line, as many as can be handled now; returns what is left.
  std::string_view take(std::string_view bytes);
  void watch_message();
  void out_of_time();
  void find_out_who_listens();
  void end_input();
  void go_on();  // with what was kept

  std::shared_ptr<Channel> channel_;
  FirstBytes first_bytes_;
  const std::size_t max_message_bytes_;
  LineFramer framer_;
  Counts* const counts_;
  InputBacklog input_;
  MessageDeadline deadline_;  // of the message under way
  bool in_message_ = false;
  bool ended_ = false;  // the input has; what is in the backlog comes before that
  ReceiveFunction receive_;
};

}  // namespace rkllm_mcp
