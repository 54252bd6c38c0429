// One HTTP/1.1 client: reads its requests, hands them on one after the other, writes the answers in the same order, and
// keeps the connection open between them. A WebSocket handshake ends it by passing the channel on.
//
// Threads: belongs to the event loop.
#pragma once

#include "deadline.hpp"
#include "immutable.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/http/http_exchange.hpp"
#include "transport/http/http_message.hpp"
#include "transport/http/http_parser.hpp"
#include "transport/http/origin_policy.hpp"
#include "transport/peer.hpp"
#include "transport/websocket/websocket_connection.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::http {

struct Timeouts {
  std::chrono::milliseconds header{};      // from a request's first byte to the end of its header fields
  std::chrono::milliseconds body{};        // from there to the end of its body
  std::chrono::milliseconds keep_alive{};  // from one request to the next
};

// What every connection of a server shares. A connection may outlive the transport by a pass of the loop.
struct Surroundings {
  asio::io_context& io;
  ParserLimits parser_limits;
  Timeouts timeouts;
  OriginPolicy origin_policy;
  Handler handler;
  websocket::Limits websocket_limits;
  std::string websocket_path;       // where handshakes are accepted; empty = anywhere
  AcceptFunction accept_websocket;  // null = nowhere
  RefusalHandler refused;           // null = plain texts
  GuessHandler refuse_guess;        // null = at once
  ConnectionLimits limits;
};

class Connection final : public Channel::Owner, public std::enable_shared_from_this<Connection> {
 public:
  static void start(const Immutable<Surroundings>& around, Channel& channel, std::string remote);

 private:
  class OwnExchange;

  Connection(const Immutable<Surroundings>& around, Channel& channel, std::string remote);

  void channel_received(std::string_view bytes) override;
  void channel_ended() override;
  void channel_ready() override;
  void channel_closed() override;
  void go_away() override { channel_->close(); }

  void process(std::string_view bytes);
  void process_later();  // the backlog, from the loop
  // Hands the request to the layer above. What that throws is the end of the exchange, not of the connection. False if
  // the connection is no HTTP connection any more; `rest` is what came after the request.
  bool begin(Request request, std::string_view rest);
  bool is_websocket_path(const Request& request) const;
  bool upgrade(const Request& request, std::string_view rest);
  void exchange_done(bool keep_alive);
  // Without the headers that let a web page read it.
  Response answer_to(const Request& request, const Refusal& refusal) const;
  void refuse(const Refusal& refusal);
  void refuse(const Response& response);
  void watch_client();
  void out_of_time();

  const Immutable<Surroundings> around_;
  std::shared_ptr<Channel> channel_;
  const std::string remote_;
  Parser parser_;
  std::string backlog_;                  // what came while an exchange was under way, or behind a slice
  std::weak_ptr<OwnExchange> exchange_;  // the one under way
  bool busy_ = false;                    // an exchange is under way, or a wrong token waits for its refusal
  bool processing_ = false;
  Deadline deadline_;
  enum class Phase { kBetween, kHeader, kBody, kAnswer } phase_ = Phase::kBetween;
};

}  // namespace rkllm_mcp::http
