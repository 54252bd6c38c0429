#include "dispatch/event_stream.hpp"

#include "dispatch/server_sent_events.hpp"
#include "faults.hpp"
#include "run_loop.hpp"

#include <charconv>
#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

// An answer that takes longer opens the event stream, so that a client which loses its connection can resume.
constexpr std::chrono::seconds kBeforeOpening{1};

}  // namespace

std::optional<EventPosition> parse_event_id(std::string_view id) {
  const auto dash = id.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = id.substr(dash + 1);
  EventPosition position{std::string(id.substr(0, dash)), 0};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), position.number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return position;
}

EventStream::EventStream(asio::io_context& loop, Options options)
    : AnsweringPeer({.transport = TransportKind::kHttp, .address = std::move(options.remote)}),
      options_(std::move(options)),
      share_(options_.memory),
      patience_(loop, [this] { out_of_patience(); }) {}

void EventStream::begin(http::Exchange& exchange) {
  attach(exchange);
  if (options_.primes) patience_.set_after(kBeforeOpening);
}

void EventStream::resume(http::Exchange& exchange, std::optional<std::uint64_t> last_seen) {
  if (exchange_) exchange_->finish();
  attach(exchange);
  open();
  if (last_seen && !has_fault("what was on its way as a connection broke is not sent again"))
    next_unsent_ = *last_seen + 1;
  for (const auto& event : kept_) {
    if (event.number < next_unsent_) continue;
    exchange_->write(event_text(event.number, event.data));
    sent(event.number);
  }
  if (ended_) {
    exchange_->finish();
    detach();
  }
}

void EventStream::attach(http::Exchange& exchange) {
  exchange_ = exchange.shared_from_this();
  opened_ = false;
  // The exchange before is listened to no more: its client has come back before we knew that it was broken.
  watching_ = false;
  exchange.when_closed([weak = weak_from_this(), raw = &exchange] {
    const auto self = std::static_pointer_cast<EventStream>(weak.lock());
    if (self && self->exchange_.get() == raw) self->detach();
  });
  if (!exchange.ready()) watch();
}

void EventStream::detach() {
  if (exchange_) last_detached_ = Clock::now();
  exchange_ = nullptr;
  opened_ = false;
  watching_ = false;
  patience_.clear();
  if (!abandoned_ && ready()) became_ready();
}

void EventStream::open() {
  if (!exchange_ || opened_) return;
  exchange_->start_stream(200, event_stream_headers(options_.headers));
  opened_ = true;  // not if that has thrown
  options_.headers = {};
  patience_.set_after(kBetweenEventComments);
  if (std::exchange(streams_, true) || !options_.primes) return;
  const auto number = keep_event({});
  exchange_->write(event_text(number, {}));
  sent(number);
}

std::uint64_t EventStream::keep_event(std::string_view data) {
  while (!kept_.empty() && (kept_bytes_ + data.size() > kKeptBytes || !share_.has_room_for(data.size()))) {
    kept_bytes_ -= kept_.front().data.size();
    kept_.pop_front();
    share_.set(kept_bytes_);
  }
  const auto number = next_number_++;
  if (!share_.has_room_for(data.size())) return number;
  kept_.push_back({number, std::string(data)});
  kept_bytes_ += data.size();
  share_.set(kept_bytes_);
  return number;
}

std::string EventStream::event_text(std::uint64_t number, std::string_view data) const {
  return event_of(data, options_.id + "-" + std::to_string(number));
}

void EventStream::sent(std::uint64_t number) {
  next_unsent_ = number + 1;
  patience_.set_after(kBetweenEventComments);
  if (!exchange_->ready()) watch();
}

void EventStream::send(std::string_view message) {
  if (ended_ || abandoned_) return;
  open();
  streams_ = true;
  const auto number = keep_event(message);
  if (!exchange_) return;
  // What could not be written is not kept either: its sender says something else in its place.
  or_else([&] { exchange_->write(event_text(number, message)); }, [&] { forget(number); });
  sent(number);
}

void EventStream::forget(std::uint64_t number) {
  if (kept_.empty() || kept_.back().number != number) return;
  kept_bytes_ -= kept_.back().data.size();
  kept_.pop_back();
  share_.set(kept_bytes_);
}

void EventStream::last(std::string message, std::optional<ErrorCode> /*error*/) {
  if (ended_ || abandoned_) return;
  if (exchange_ && !streams_) {
    exchange_->respond({200, options_.headers, "application/json", std::move(message)});
    detach();
    return end();
  }
  send(message);
  if (!exchange_ && kept_.empty()) return abandon();  // there was no room for it
  if (exchange_) {
    exchange_->finish();
    detach();
  }
  end();
}

void EventStream::none() {
  if (ended_ || abandoned_) return;
  if (exchange_ && !opened_) exchange_->respond({202, options_.headers, {}, {}});
  if (exchange_ && opened_) exchange_->finish();
  detach();
  end();
}

void EventStream::end() {
  ended_ = true;
  if (const auto action = std::exchange(when_ended_, {})) action();
}

void EventStream::resume_after(std::chrono::milliseconds pause) {
  if (!exchange_ || !options_.primes || ended_) return;
  open();
  exchange_->write(retry_after(pause));
  exchange_->finish();
  detach();
}

void EventStream::abandon() {
  if (std::exchange(abandoned_, true)) return;
  if (exchange_ && opened_) exchange_->finish();
  detach();
  kept_.clear();
  kept_bytes_ = 0;
  share_.set(0);
  // A timer without delay, since became_closed() must not be called from inside this function: out_of_patience() calls
  // it from the loop. If there is no memory for that, it is called here after all: this function is also called by
  // destructors, and may throw nothing.
  try {
    patience_.set_after({});
  } catch (const std::bad_alloc&) {
    given_up();
  }
}

void EventStream::given_up() {
  const auto kept = weak_from_this().lock();  // end() may make the session drop this stream
  if (!ended_) end();
  became_closed();  // last, since an action of it may throw
}

// While a client is connected the bytes wait for it in its connection. While none is, they are kept here, if need be in
// place of everything that was kept before.
bool EventStream::has_room_for(std::size_t bytes) const {
  if (exchange_) return exchange_->has_room_for(bytes);
  return bytes <= kept_bytes_ || share_.has_room_for(bytes - kept_bytes_);
}

void EventStream::watch() {
  if (std::exchange(watching_, true)) return;
  exchange_->when_ready([weak = weak_from_this(), raw = exchange_.get()] {
    const auto self = std::static_pointer_cast<EventStream>(weak.lock());
    if (!self || self->exchange_.get() != raw) return;
    self->watching_ = false;
    self->became_ready();
  });
}

void EventStream::out_of_patience() {
  if (abandoned_) return given_up();
  if (!exchange_) return;
  if (!opened_) return open();
  exchange_->write(kEventComment);
  patience_.set_after(kBetweenEventComments);
}

}  // namespace rkllm_mcp
