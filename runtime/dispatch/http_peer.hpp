// One HTTP exchange as a peer: the answer to one message, as JSON if it is all there is to say, as Server-Sent Events
// if something has to be said before it. Event loop only.
#pragma once

#include "deadline.hpp"
#include "transport/http/http_exchange.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class HttpPeer : public AnsweringPeer {
 public:
  struct Options {
    bool may_stream = false;          // the client accepts text/event-stream
    bool errors_have_status = false;  // MCP assigns an HTTP status to some errors; else all have 200
    std::string remote;
  };

  static std::shared_ptr<HttpPeer> make(asio::io_context& loop, http::Exchange& exchange, Options options);
  HttpPeer(asio::io_context& loop, http::Exchange& exchange, Options options);

  void send(std::string_view message) override;  // an event; dropped if the client accepts none
  void last(std::string message, std::optional<ErrorCode> error) override;
  void none() override;                                               // 202, or the end of the events
  void resume_after(std::chrono::milliseconds /*pause*/) override {}  // nothing of it could be asked for again
  void answer_with_status(int status, std::string message);

  bool ready() const override { return exchange_->ready(); }
  bool closed() const override { return exchange_->closed(); }
  bool has_room_for(std::size_t bytes) const override { return exchange_->has_room_for(bytes); }
  void close() override {}  // the exchange ends with its answer
  // To be sent with the answer, if it has not begun.
  void add_header(std::string_view name, std::string_view value) { headers_.add(name, value); }

 private:
  void input_resumed() override {}  // the next request is another peer's

  void start_stream();
  void watch();  // for the exchange to become ready
  void write_event(std::string_view message);

  std::shared_ptr<http::Exchange> exchange_;
  const bool errors_have_status_;
  http::Headers headers_;
  bool streaming_ = false;
  bool watching_ = false;
  Deadline silence_;  // until the client is told that the stream still lives
};

}  // namespace rkllm_mcp
