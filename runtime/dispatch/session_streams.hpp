// The event streams of one session over HTTP: the standing one, and those that answer its requests and can be resumed.
// Event loop only.
#pragma once

#include "dispatch/event_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class SessionStreams {
 public:
  static constexpr std::size_t kEndedStreams = 4;  // that are kept, the last that have ended

  SessionStreams(asio::io_context& loop, MemoryBudget memory);
  ~SessionStreams();
  SessionStreams(const SessionStreams&) = delete;
  SessionStreams& operator=(const SessionStreams&) = delete;

  // Carries what answers no request.
  EventStream& standing() const { return *standing_; }
  // A new one, for the answer to a request. `options.id` and `options.memory` are filled in. Goes when it has ended, if
  // there is nothing to come back for: who uses it keeps it.
  EventStream& add(EventStream::Options options);
  // Whether a client reads any of them, and when one last did.
  bool is_any_attached() const;
  Clock::time_point last_attached() const;
  std::size_t in_progress() const;  // streams of requests that have not been answered yet
  // Null if there is none (any more).
  EventStream* find(std::string_view id) const;

 private:
  void keep_ended(const EventStream& stream);

  asio::io_context& loop_;
  const MemoryBudget memory_;
  const std::shared_ptr<EventStream> standing_;
  std::deque<std::shared_ptr<EventStream>> streams_;  // that have ended in the order in which they did
  std::uint64_t next_ = 1;
};

}  // namespace rkllm_mcp
