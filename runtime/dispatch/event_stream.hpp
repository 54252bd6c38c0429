// A stream of events that a client can come back to: it outlives the HTTP exchange that carries it, keeps its events,
// and sends those again that the client has not seen. The answer to one request, or the standing stream of a session.
//
// An answer with nothing before it goes out as plain JSON. If it takes longer than a second, and the client can resume
// a stream from its beginning, the event stream is opened meanwhile.
//
// Event loop only.
#pragma once

#include "clock.hpp"
#include "deadline.hpp"
#include "memory_budget.hpp"
#include "transport/http/http_exchange.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class EventStream final : public AnsweringPeer {
 public:
  struct Options {
    std::string id;         // of the stream, unique in its session
    bool primes = false;    // the client takes an empty first event
    http::Headers headers;  // of what answers the first exchange
    std::string remote;
    MemoryBudget memory;  // that kept events count in; none: nothing counts
  };

  // Bytes of events that are kept for a client that comes back, the oldest first forgotten; the last message is kept
  // however long it is, if there is memory for it.
  static constexpr std::size_t kKeptBytes = 256 * 1024;

  EventStream(asio::io_context& loop, Options options);

  // The exchange of the request that this answers.
  void begin(http::Exchange& exchange);
  // Another exchange that wants the events after `last_seen`, or if that is nothing, those that were never sent.
  void resume(http::Exchange& exchange, std::optional<std::uint64_t> last_seen);
  bool is_attached() const { return exchange_ != nullptr; }
  Clock::time_point last_detached() const { return last_detached_; }
  // Gives the stream up: what is kept is dropped, and from now on closed() is true. Later, from the loop, it ends if it
  // has not yet, and the actions of when_closed() are called; neither if the stream is destroyed before that.
  void abandon();
  const std::string& id() const { return options_.id; }
  bool ended() const { return ended_; }
  bool has_events() const { return streams_; }
  bool has_after(std::uint64_t number) const { return !kept_.empty() && kept_.back().number > number; }
  void when_ended(std::function<void()> action) { when_ended_ = std::move(action); }

  void send(std::string_view message) override;
  void last(std::string message, std::optional<ErrorCode> error) override;
  void none() override;
  void resume_after(std::chrono::milliseconds pause) override;

  bool ready() const override { return exchange_ ? exchange_->ready() : kept_bytes_ < kKeptBytes; }
  bool closed() const override { return abandoned_; }
  bool has_room_for(std::size_t bytes) const override;
  void close() override { abandon(); }

 private:
  void input_resumed() override {}  // the next request is another peer's

  struct Event {
    std::uint64_t number;
    std::string data;  // empty: the first one, from which everything can be resumed
  };

  void attach(http::Exchange& exchange);
  void detach();
  void open();                                      // the exchange's event stream
  std::uint64_t keep_event(std::string_view data);  // returns its number; keeps it only if there is room
  std::string event_text(std::uint64_t number, std::string_view data) const;
  void sent(std::uint64_t number);    // that event, on the exchange
  void forget(std::uint64_t number);  // the last event
  void watch();
  void out_of_patience();
  void given_up();  // ends, and tells that it is closed
  void end();

  Options options_;
  std::shared_ptr<http::Exchange> exchange_;
  Clock::time_point last_detached_{};
  bool opened_ = false;   // the exchange carries events
  bool streams_ = false;  // an event has been sent, or kept to be sent: the answer is an event, too
  bool watching_ = false;
  bool ended_ = false;
  bool abandoned_ = false;
  std::function<void()> when_ended_;
  std::deque<Event> kept_;
  std::size_t kept_bytes_ = 0;
  MemoryShare share_;
  std::uint64_t next_number_ = 0;
  std::uint64_t next_unsent_ = 0;
  Deadline patience_;
};

// The stream and the number that an event's id names; nothing if it is none of ours.
struct EventPosition {
  std::string stream;
  std::uint64_t number;
};
std::optional<EventPosition> parse_event_id(std::string_view id);

}  // namespace rkllm_mcp
