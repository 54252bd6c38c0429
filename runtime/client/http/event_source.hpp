// Messages that come as server-sent events, over as many connections as it takes: where the server numbers its events,
// a stream that has broken off is asked for again from the last one on (Last-Event-ID). Threads: stop() may be called
// from any, all the rest belongs to one.
#pragma once

#include "client/http/http_round_trip.hpp"
#include "client/http/http_server_state.hpp"
#include "client/http/sse_parser.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

class EventSource {
 public:
  using Deliver = std::function<void(std::string message)>;

  // What it is given must outlive it.
  EventSource(const HttpServerState& server, HttpRoundTrip& trip, Deliver deliver);

  // Takes bytes of a response; false if an event is longer than kLongestMessage, which is the end of the stream.
  bool feed(std::string_view bytes);
  // Whether the server has numbered an event, and so may go on with the stream on another connection.
  bool is_resumable() const { return !parser_.last_id().empty(); }

  enum class End {
    kDone,     // `is_done` has said so
    kRefused,  // the server does not serve this stream; status() says how
    kGone,     // the server cannot be reached
    kStopped,  // by stop(), or because an event is too long
  };
  // GETs the stream, again and again, until it is done.
  End follow(const std::function<bool()>& is_done);
  // Waits as long as the server wants between two connections; false if it was stopped.
  bool pause();
  void stop();
  int status() const { return status_; }
  bool is_too_long() const { return is_too_long_; }

 private:
  const HttpServerState& server_;
  HttpRoundTrip& trip_;
  const Deliver deliver_;
  SseParser parser_;
  int status_ = 0;
  bool is_too_long_ = false;
  int failures_ = 0;  // in a row
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace rkllm_mcp::client
