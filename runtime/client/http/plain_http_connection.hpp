// Plain JSON-RPC over HTTP: each message is a POST. HTTP cannot push, so a reply that opens a stream (it carries a
// stream_id) is followed by polls, whose chunks come out of receive() like those of the other connections.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/http/http_round_trip.hpp"
#include "clock.hpp"

#include <rkllm_mcp/json.hpp>

#include <deque>
#include <string>

namespace rkllm_mcp::client {

class PlainHttpConnection final : public Connection {
 public:
  PlainHttpConnection(const Endpoint& endpoint, Clock::time_point deadline);

  void send(std::string_view message) override;  // blocks until the reply is there
  std::optional<std::string> receive(Clock::time_point deadline) override;

 private:
  struct Stream {
    Json id;
    Json stream_id;
    std::string refusal;  // error 4004, in answer to the last poll; else empty
  };

  struct Reply {
    std::string text;
    Json message;
  };

  void keep(Reply reply);
  std::optional<Reply> post(std::string_view message);  // nothing if there is no body

  HttpRoundTrip trip_;
  std::string path_;
  std::string where_;
  std::deque<std::string> replies_;  // received and not yet handed out
  std::deque<Stream> streams_;       // open, the one to be polled next in front
};

}  // namespace rkllm_mcp::client
