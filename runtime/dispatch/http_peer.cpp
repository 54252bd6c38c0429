#include "dispatch/http_peer.hpp"

#include "dispatch/server_sent_events.hpp"

#include <utility>

namespace rkllm_mcp {
namespace {

// The status of an answer that is an error.
int status_of(ErrorCode code) {
  if (code == ErrorCode::kMethodNotFound) return 404;
  return is_of_mcp(code) ? 400 : 200;
}

}  // namespace

HttpPeer::HttpPeer(asio::io_context& loop, http::Exchange& exchange, Options options)
    : AnsweringPeer({.transport = TransportKind::kHttp,
                     .address = std::move(options.remote),
                     .takes_messages = options.may_stream}),
      exchange_(exchange.shared_from_this()),
      errors_have_status_(options.errors_have_status),
      silence_(loop, [this] {
        if (exchange_->closed()) return;
        silence_.set_after(kBetweenEventComments);  // first: without memory for a comment the next one is tried
        exchange_->write(kEventComment);
      }) {}

std::shared_ptr<HttpPeer> HttpPeer::make(asio::io_context& loop, http::Exchange& exchange, Options options) {
  auto peer = std::make_shared<HttpPeer>(loop, exchange, std::move(options));
  exchange.when_closed([weak = std::weak_ptr(peer)] {
    if (const auto alive = weak.lock()) alive->became_closed();
  });
  if (!exchange.ready()) peer->watch();  // what was said before on its connection has not left yet
  return peer;
}

void HttpPeer::start_stream() {
  if (std::exchange(streaming_, true)) return;
  exchange_->start_stream(200, event_stream_headers(headers_));
}

void HttpPeer::write_event(std::string_view message) {
  exchange_->write(event_of(message));
  silence_.set_after(kBetweenEventComments);
}

void HttpPeer::send(std::string_view message) {
  if (!facts().takes_messages) return;
  start_stream();
  write_event(message);
  if (!exchange_->ready()) watch();
}

void HttpPeer::watch() {
  if (std::exchange(watching_, true)) return;
  exchange_->when_ready([weak = weak_from_this()] {
    const auto alive = std::static_pointer_cast<HttpPeer>(weak.lock());
    if (!alive) return;
    alive->watching_ = false;
    alive->became_ready();
  });
}

void HttpPeer::last(std::string message, std::optional<ErrorCode> error) {
  if (!streaming_) {
    return answer_with_status(error && errors_have_status_ ? status_of(*error) : 200, std::move(message));
  }
  write_event(message);
  silence_.clear();
  exchange_->finish();
}

void HttpPeer::answer_with_status(int status, std::string message) {
  exchange_->respond({status, headers_, "application/json", std::move(message)});
}

void HttpPeer::none() {
  silence_.clear();
  if (streaming_) return exchange_->finish();
  exchange_->respond({202, headers_, {}, {}});
}

}  // namespace rkllm_mcp
