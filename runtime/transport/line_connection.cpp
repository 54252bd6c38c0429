#include "transport/line_connection.hpp"

#include <utility>

namespace rkllm_mcp {

LineConnection::LineConnection(std::shared_ptr<Channel> channel, Identity identity, const ConnectionLimits& limits)
    : channel_(std::move(channel)), identity_(std::move(identity)), framer_(limits.max_message_bytes) {}

void LineConnection::start(const std::shared_ptr<Channel>& channel, Identity identity, const ConnectionLimits& limits,
                           const AcceptFunction& accept) {
  const std::shared_ptr<LineConnection> connection(new LineConnection(channel, std::move(identity), limits));
  // What follows close() in the same packet is not executed.
  connection->receive_ = [receive = accept(connection), &open = *channel](const Received& received) {
    if (open.is_open()) receive(received);
  };
  channel->start(connection);
}

void LineConnection::channel_received(std::string_view bytes) {
  if (transport() == TransportKind::kTcp && http_guard_.is_http(bytes)) return channel_->abort();
  framer_.feed(bytes, receive_);
}

void LineConnection::channel_ended() {
  framer_.finish(receive_);
  receive_(EndOfInput{});
}

void LineConnection::channel_closed() {
  became_closed();
  receive_ = nullptr;  // it may hold what holds this connection
}

}  // namespace rkllm_mcp
