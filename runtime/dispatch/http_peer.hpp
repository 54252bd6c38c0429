// One HTTP exchange as a peer: the answer to one message, as JSON if it is all there is to say, as Server-Sent Events
// if something has to be said before it. Event loop only.
#pragma once

#include "transport/http_exchange.hpp"
#include "transport/peer.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class HttpPeer : public Peer {
 public:
  struct Options {
    bool may_stream = false;  // the client accepts text/event-stream
    HttpHeaders headers;      // that every kind of answer carries
    std::string remote;
  };

  static std::shared_ptr<HttpPeer> make(std::shared_ptr<HttpExchange> exchange, Options options);
  HttpPeer(std::shared_ptr<HttpExchange> exchange, Options options)
      : exchange_(std::move(exchange)), options_(std::move(options)) {}

  void send(std::string_view message) override;       // an event; dropped if the client accepts none
  void send_last(std::string_view message) override;  // the answer
  void end_unanswered() override;                     // 202, or the end of the events
  void answer_with_status(int status, std::string_view message);

  bool ready() const override { return exchange_->ready(); }
  bool closed() const override { return exchange_->closed(); }
  void close() override {}  // the exchange ends with its answer
  TransportKind transport() const override { return TransportKind::kHttp; }
  std::string address() const override { return options_.remote; }
  bool may_stream() const { return options_.may_stream; }
  // To be sent with the answer, if it has not begun.
  void add_header(std::string_view name, std::string_view value) { options_.headers.add(name, value); }

 private:
  void start_stream();
  void watch();  // for the exchange to become ready
  void write_event(std::string_view message);

  std::shared_ptr<HttpExchange> exchange_;
  Options options_;
  bool streaming_ = false;
  bool watching_ = false;
};

}  // namespace rkllm_mcp
