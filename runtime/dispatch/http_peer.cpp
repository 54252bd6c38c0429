#include "dispatch/http_peer.hpp"

#include <utility>

namespace rkllm_mcp {

std::shared_ptr<HttpPeer> HttpPeer::make(std::shared_ptr<HttpExchange> exchange, Options options) {
  auto peer = std::make_shared<HttpPeer>(exchange, std::move(options));
  exchange->when_closed([weak = std::weak_ptr(peer)] {
    if (const auto alive = weak.lock()) alive->became_closed();
  });
  if (!exchange->ready()) peer->watch();  // what was said before on its connection has not left yet
  return peer;
}

void HttpPeer::start_stream() {
  if (std::exchange(streaming_, true)) return;
  HttpHeaders headers = options_.headers;
  headers.add("Content-Type", "text/event-stream");
  headers.add("Cache-Control", "no-store");
  headers.add("X-Accel-Buffering", "no");
  exchange_->start_stream(200, headers);
}

void HttpPeer::write_event(std::string_view message) {
  std::string event = "event: message\ndata: ";
  event += message;
  event += "\n\n";
  exchange_->write(event);
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

void HttpPeer::send_last(std::string_view message) {
  if (!streaming_) return answer_with_status(200, message);
  write_event(message);
  exchange_->finish();
}

void HttpPeer::answer_with_status(int status, std::string_view message) {
  exchange_->respond({status, options_.headers, "application/json", std::string(message)});
}

void HttpPeer::end_unanswered() {
  if (streaming_) return exchange_->finish();
  exchange_->respond({202, options_.headers, {}, {}});
}

}  // namespace rkllm_mcp
