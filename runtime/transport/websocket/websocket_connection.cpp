#include "transport/websocket/websocket_connection.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::websocket {

Connection::Connection(asio::io_context& io, Channel& channel, PeerFacts facts, const Limits& limits,
                       const ConnectionLimits& connection_limits)
    : ConnectedPeer(std::move(facts)),
      channel_(channel.shared_from_this()),
      limits_{limits.ping_interval, std::max(limits.pong_timeout, 2 * limits.ping_interval)},
      max_message_bytes_(connection_limits.max_message_bytes),
      counts_(connection_limits.counts),
      parser_(std::min(connection_limits.max_message_bytes, connection_limits.stranger_message_bytes),
              connection_limits.memory),
      input_(channel, [this] { go_on(); }),
      deadline_(channel, connection_limits.message, [this] { out_of_time(); }),
      silence_(io, [this] { channel_->contain([this] { check_silence(); }); }),
      last_heard_(Clock::now()) {}

void Connection::start(asio::io_context& io, Channel& channel, PeerFacts facts, const Limits& limits,
                       const ConnectionLimits& connection_limits, std::string_view early,
                       const AcceptFunction& accept) {
  const std::shared_ptr<Connection> connection(
      new Connection(io, channel, std::move(facts), limits, connection_limits));
  connection->receive_ = accept(*connection);
  channel.start(connection);
  if (limits.ping_interval.count() > 0) connection->silence_.set_after(limits.ping_interval);
  if (!early.empty()) connection->channel_received(early);
}

void Connection::channel_received(std::string_view bytes) {
  last_heard_ = Clock::now();
  input_.receive(bytes, [this](std::string_view received) { return take(received); });
}

std::string_view Connection::take(std::string_view bytes) {
  while (!bytes.empty() && !input_is_held() && !channel_->congested() && !input_.slice_is_over()) {
    if (has_proved()) parser_.set_limit(max_message_bytes_);
    const auto event = parser_.next(bytes);
    if (!event) continue;
    input_.count_message();
    const auto* const received = std::get_if<Received>(&*event);
    if (received == nullptr) {
      answer(*event);
    } else if (channel_->is_open()) {  // what follows close() in the same packet is not executed
      receive_(*received);
    }
    parser_.release();
  }
  watch_message();
  return bytes;
}

void Connection::answer(const Parser::Event& event) {
  if (const auto* const ping = std::get_if<Ping>(&event)) send_frame(Opcode::kPong, ping->payload);
  if (const auto* const closing = std::get_if<Closing>(&event)) close_with(closing->payload);
  if (const auto* const violation = std::get_if<Violation>(&event)) {
    close_with(close_payload(violation->code, violation->explanation));
  }
}

// A message's time runs from its first frame, however slowly the others come, and whatever comes between them.
void Connection::watch_message() {
  if (parser_.message_under_way() == watched_) return;
  watched_ = parser_.message_under_way();
  if (watched_ == 0) return deadline_.clear();
  deadline_.begin();
}

void Connection::out_of_time() {
  count(counts_, Limit::kMessageTime);
  if (receive_) receive_(TooSlow{});
  close_with(close_payload(Close::kTooSlow, "the message takes too long"));
}

void Connection::channel_ready() {
  became_ready();
  go_on();
}

void Connection::input_resumed() {
  if (channel_->is_open()) go_on();
}

void Connection::go_on() {
  input_.go_on([this](std::string_view bytes) { return take(bytes); });
}

void Connection::channel_closed() {
  silence_.clear();
  deadline_.clear();
  became_closed();
  receive_ = nullptr;  // it may hold what holds this connection
}

void Connection::send(std::string_view message) {
  channel_->write({frame_header(Opcode::kText, message.size()), message});
}

void Connection::last(std::string message, std::optional<ErrorCode> /*error*/) {
  const std::string header = frame_header(Opcode::kText, message.size());
  channel_->write(header, std::move(message), {});
}

void Connection::send_frame(Opcode opcode, std::string_view payload) {
  channel_->write({frame_header(opcode, payload.size()), payload});
}

void Connection::close_with(std::string_view payload) {
  send_frame(Opcode::kClose, payload);
  channel_->close();
}

void Connection::check_silence() {
  const auto now = Clock::now();
  // While something waits to be written a ping would wait behind it, and the channel watches whether the client takes
  // anything. While the client's input is paused its pongs cannot be seen.
  if (!channel_->nothing_queued()) last_heard_ = now;
  const auto silent = now - last_heard_;
  if (silent >= limits_.pong_timeout && !channel_->input_paused()) {
    return close_with(close_payload(Close::kGoingAway, "no sign of life"));
  }
  if (silent >= limits_.ping_interval) {
    send_frame(Opcode::kPing, {});
    return silence_.set_at(now + limits_.ping_interval);
  }
  silence_.set_at(last_heard_ + limits_.ping_interval);
}

}  // namespace rkllm_mcp::websocket
