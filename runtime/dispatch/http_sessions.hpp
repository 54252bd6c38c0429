// The sessions that HTTP clients carry from request to request, named by the Mcp-Session-Id header. All HTTP endpoints
// share one table; clients without the header share one session for each access token. Event loop only.
#pragma once

#include "clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/event_stream.hpp"
#include "transport/http/http_message.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// The event streams of one session over HTTP: the standing one, and those that answer its requests and can be resumed.
class SessionStreams {
 public:
  static constexpr std::size_t kEndedStreams = 4;  // that are kept, the last that have ended

  SessionStreams(asio::io_context& loop, MemoryBudget memory);
  ~SessionStreams();
  SessionStreams(const SessionStreams&) = delete;
  SessionStreams& operator=(const SessionStreams&) = delete;

  // Carries what answers no request.
  EventStream& standing() const { return *standing_; }
  // A new stream for the answer to a request; fills in `options.id` and `options.memory`. It is dropped when it has
  // ended without anything that a client could come back for: whoever uses it longer must hold it.
  EventStream& add(EventStream::Options options);
  // Whether a client reads any of them, and when one was last detached.
  bool is_any_attached() const;
  Clock::time_point last_detached() const;
  std::size_t in_progress() const;  // streams of requests that have not been answered yet
  // Null if there is none (any more).
  EventStream* find(std::string_view id) const;

 private:
  void keep_ended(const EventStream& stream);

  asio::io_context& loop_;
  const MemoryBudget memory_;
  const std::shared_ptr<EventStream> standing_;
  std::deque<std::shared_ptr<EventStream>> streams_;  // the ended ones among them in the order in which they ended
  std::uint64_t next_ = 1;
};

class HttpSessions {
 public:
  // How many sessions may exist. When there are so many, a new one ends an old one: of the client that has most (see
  // owner_of()), and never of a client that has fewer than the newcomer. Of its sessions that rest, those without a
  // call go first, and among these the one used longest ago.
  static constexpr std::size_t kMost = 1024;

  // A session that was not used for `idle` is forgotten.
  HttpSessions(Dispatcher& dispatcher, std::chrono::seconds idle) : dispatcher_(dispatcher), idle_(idle) {}

  HttpSessions(const HttpSessions&) = delete;
  HttpSessions& operator=(const HttpSessions&) = delete;
  ~HttpSessions();

  // Both pointers are valid until the session is forgotten; whoever needs the session for longer must hold it.
  struct Found {
    Session* session = nullptr;         // null: none
    SessionStreams* streams = nullptr;  // its event streams; null in a session that is shared
  };
  // The session that the request belongs to: the one that it names, else the one that all requests of the same bearer
  // (or of nobody) share. None if it names one that does not exist (any more), or is another bearer's.
  Found of(const http::Request& request);

  struct Opened {
    std::string id;
    Session& session;  // as of Found
  };
  std::optional<Opened> open(const http::Request& request);  // nothing if there is no place for it
  // Cancels the calls of the session and forgets it; false if there is none.
  bool end(std::string_view id);

 private:
  struct Entry {
    std::shared_ptr<Session> session;
    std::unique_ptr<SessionStreams> streams;
    Clock::time_point last_used;
    std::string owner;

    bool rests() const;  // nothing is in progress but what waits for a client that is not there
    // Whether it rests, and has rested since before `oldest`.
    bool is_over(Clock::time_point oldest) const {
      return rests() && std::max({last_used, session->last_ended(), streams->last_detached()}) < oldest;
    }
  };

  using Entries = std::map<std::string, Entry, std::less<>>;

  // Cancels what is in progress.
  Entries::iterator forget(Entries::iterator entry);
  void forget_idle();
  bool make_room_for(const std::string& newcomer);  // for a session of this owner

  Dispatcher& dispatcher_;
  const std::chrono::seconds idle_;
  Entries entries_;
  std::map<const Principal*, std::shared_ptr<Session>> anonymous_;
};

// 404 for a request that names an unknown session.
http::Response no_such_session();
// A refusal with a JSON-RPC error as its body.
http::Response refusal(int status, const std::string& complaint);

}  // namespace rkllm_mcp
