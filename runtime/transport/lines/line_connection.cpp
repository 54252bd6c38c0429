#include "transport/lines/line_connection.hpp"

#include "faults.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {

LineConnection::LineConnection(Channel& channel, PeerFacts facts, const ConnectionLimits& limits)
    : ConnectedPeer(std::move(facts)),
      channel_(channel.shared_from_this()),
      max_message_bytes_(limits.max_message_bytes),
      framer_(std::min(limits.max_message_bytes, limits.stranger_message_bytes), limits.memory),
      counts_(limits.counts),
      input_(channel, [this] { go_on(); }),
      deadline_(channel, limits.message, [this] { out_of_time(); }) {}

void LineConnection::start(Channel& channel, PeerFacts facts, const ConnectionLimits& limits,
                           const AcceptFunction& accept) {
  const std::shared_ptr<LineConnection> connection(new LineConnection(channel, std::move(facts), limits));
  connection->receive_ = accept(*connection);
  channel.start(connection);
}

void LineConnection::channel_received(std::string_view bytes) {
  if (facts().transport != TransportKind::kStdio && !first_bytes_.allow(bytes) &&
      !has_fault("what follows another protocol's first line is executed")) {
    receive_(OtherProtocol{});
    return close();  // what else arrives is dropped by the channel
  }
  input_.receive(bytes, [this](std::string_view received) { return take(received); });
}

std::string_view LineConnection::take(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && !input_is_held() && !channel_->congested() && !input_.slice_is_over()) {
    if (has_proved()) framer_.set_limit(max_message_bytes_);
    const auto received = framer_.next(rest);
    input_.count_message();
    // What follows close() in the same packet is not executed.
    if (received && channel_->is_open()) receive_(*received);
    framer_.release();
  }
  const auto taken = bytes.substr(0, bytes.size() - rest.size());
  if (taken.rfind('\n') != std::string_view::npos) in_message_ = false;  // what follows is another one
  watch_message();
  return rest;
}

// A message's time runs from its first byte, however slowly the others come.
void LineConnection::watch_message() {
  const bool is_inside = framer_.is_inside();
  if (is_inside && !std::exchange(in_message_, is_inside)) deadline_.begin();
  if (!is_inside) {
    in_message_ = false;
    deadline_.clear();
  }
}

void LineConnection::out_of_time() {
  count(counts_, Limit::kMessageTime);
  if (receive_) receive_(TooSlow{});
  channel_->close();
}

void LineConnection::channel_ready() {
  became_ready();
  go_on();
}

void LineConnection::go_on() {
  if (input_is_held() || !receive_) return;
  input_.go_on([this](std::string_view bytes) { return take(bytes); });
  if (input_.empty() && !input_is_held() && std::exchange(ended_, false)) end_input();
}

void LineConnection::channel_ended() {
  ended_ = input_is_held() || !input_.empty();
  if (!ended_) return end_input();
  find_out_who_listens();  // nobody needs to handle what waits for a client that has gone
}

// A TCP client that still waits for an answer may have closed its connection altogether, which only a write shows;
// other transports report it by themselves. A space in front of a line is white space in front of its JSON.
void LineConnection::find_out_who_listens() {
  if (facts().transport == TransportKind::kTcp) channel_->keep_probing(" ");
}

void LineConnection::end_input() {
  in_message_ = false;  // what is unfinished counts as a message
  deadline_.clear();
  if (const auto rest = framer_.finish(); rest && channel_->is_open()) receive_(*rest);
  framer_.release();
  if (input_is_held()) {  // the last line may take longer, too
    ended_ = true;
    return find_out_who_listens();
  }
  if (channel_->is_open()) receive_(EndOfInput{});
  find_out_who_listens();
}

void LineConnection::channel_closed() {
  deadline_.clear();
  became_closed();
  receive_ = nullptr;  // it may hold what holds this connection
}

}  // namespace rkllm_mcp
