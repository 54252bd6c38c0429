#include "dispatch/http_peer.hpp"

#include "dispatch/server_sent_events.hpp"

#include <utility>

namespace rkllm_mcp {

HttpPeer::HttpPeer(asio::io_context& loop, HttpExchange& exchange, Options options)
    : exchange_(exchange.shared_from_this()), options_(std::move(options)), silence_(loop, [this] {
        if (exchange_->closed()) return;
        exchange_->write(kEventComment);
        silence_.set_after(kBetweenEventComments);
      }) {}

std::shared_ptr<HttpPeer> HttpPeer::make(asio::io_context& loop, HttpExchange& exchange, Options options) {
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
  if (!options_.may_stream) return;
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

void HttpPeer::send_last(std::string message) {
  if (!streaming_) return answer_with_status(status_, std::move(message));
  write_event(message);
  silence_.clear();
  exchange_->finish();
}

void HttpPeer::answer_with_status(int status, std::string message) {
  exchange_->respond({status, headers_, "application/json", std::move(message)});
}

void HttpPeer::answers_with(ErrorCode code) {
  if (!options_.errors_have_status) return;
  const int value = static_cast<int>(code);
  if (code == ErrorCode::kMethodNotFound) status_ = 404;
  if (value <= -32020 && value >= -32099) status_ = 400;
}

void HttpPeer::end_unanswered() {
  silence_.clear();
  if (streaming_) return exchange_->finish();
  exchange_->respond({202, headers_, {}, {}});
}

}  // namespace rkllm_mcp
