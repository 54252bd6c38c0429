// A WebSocket client after the handshake: one message per text frame.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"
#include "deadline.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/bytes/input_backlog.hpp"
#include "transport/bytes/message_deadline.hpp"
#include "transport/limits.hpp"
#include "transport/peer.hpp"
#include "transport/websocket/websocket_parser.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::websocket {

struct Limits {
  // A client that has been silent for this time gets a ping, and another one each time it passes again; 0 = never.
  std::chrono::milliseconds ping_interval{};
  // A client that has not even answered pings for this time is closed; at the earliest after twice ping_interval.
  std::chrono::milliseconds pong_timeout{60'000};
};

class Connection final : public ConnectedPeer, public Channel::Owner {
 public:
  // Takes over a channel on which the handshake has been answered; `early` is what the client has sent after it
  // already.
  static void start(asio::io_context& io, Channel& channel, PeerFacts facts, const Limits& limits,
                    const ConnectionLimits& connection_limits, std::string_view early, const AcceptFunction& accept);

  void send(std::string_view message) override;
  void last(std::string message, std::optional<ErrorCode> error) override;
  bool has_room_for(std::size_t bytes) const override { return channel_->has_room_for(bytes); }
  bool ready() const override { return channel_->ready(); }
  void close() override { close_with(close_payload(Close::kNormal, "")); }
  void refuse() override { close_with(close_payload(Close::kUnauthorized, "unauthorized")); }
  bool closed() const override { return !channel_->is_open(); }

 private:
  Connection(asio::io_context& io, Channel& channel, PeerFacts facts, const Limits& limits,
             const ConnectionLimits& connection_limits);

  void input_resumed() override;
  void channel_received(std::string_view bytes) override;
  void channel_ended() override { channel_->abort(); }
  void channel_ready() override;
  void channel_closed() override;
  void go_away() override { close_with(close_payload(Close::kGoingAway, "the server stops")); }

  // Frame by frame, as many as can be handled now; returns what is left.
  std::string_view take(std::string_view bytes);
  void answer(const Parser::Event& event);  // but a message
  void go_on();                             // with what was kept
  void watch_message();
  void out_of_time();
  void send_frame(Opcode opcode, std::string_view payload);
  void close_with(std::string_view payload);
  void check_silence();

  std::shared_ptr<Channel> channel_;
  const Limits limits_;
  const std::size_t max_message_bytes_;
  Counts* const counts_;
  Parser parser_;
  InputBacklog input_;
  ReceiveFunction receive_;
  MessageDeadline deadline_;  // of the message under way
  std::size_t watched_ = 0;   // its number
  Deadline silence_;
  Clock::time_point last_heard_;
};

}  // namespace rkllm_mcp::websocket
