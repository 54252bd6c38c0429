// All requests in progress, of all clients: whose each is, how it is cancelled, who reads its stream, where its answer
// goes.
//
// The table alone owns them: a session finds its own by its number, and holds the table weakly; readers, invocations
// and timers hold keys. A request may hold what answers it: a tool's invocation, and through that the session of a
// stateless request. None of these holds the request: it is gone when it is removed, or at the latest with the table.
//
// Event loop only.
#pragma once

#include "backend.hpp"
#include "call/poll_reader.hpp"
#include "call/push_reader.hpp"
#include "clock.hpp"
#include "jsonrpc/message.hpp"
#include "jsonrpc/reply.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

// One call in progress, or another request that takes its time.
struct ActiveCall {
  RequestId id{};
  std::string stream_id{};  // of streams that have one, else empty
  Backend::CallId call = 0;
  std::shared_ptr<StreamReader> reader{};  // null: there is no stream, and no call of the backend
  PollReader* polled = nullptr;            // the same object as `reader`, if that is polled
  PushReader* pushed = nullptr;            // the same object as `reader`, if that retains what it has pushed
  std::shared_ptr<Reply> reply{};          // what answers the request; null for a polled stream
  bool answers_when_cancelled = true;      // MCP: false
  bool outlives_exchange = false;          // over HTTP: a disconnect is not a cancellation
  std::function<void()> on_cancelled{};
  std::unique_ptr<Timer> waiting_limit{};  // ends its wait for the handle; null: it may wait for ever
  std::string host{};                      // in a shared session: where its client is
  bool ended = false;                      // only kept so that a lossy transport's client can ask again
};

class RequestTable {
 public:
  using SessionNumber = std::uint64_t;
  using Key = std::uint64_t;  // counts up: the oldest request of a session has the smallest

  // `backend` outlives the table. Null: no request is a call of one.
  explicit RequestTable(Backend* backend = nullptr) : backend_(backend) {}
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  Backend* backend() const { return backend_; }

  SessionNumber new_session() { return ++last_session_; }
  Key add(SessionNumber session, ActiveCall call);
  ActiveCall* find(SessionNumber session, Key key);  // null if there is none (any more)
  void remove(SessionNumber session, Key key);
  void remove_all_of(SessionNumber session);

  using Calls = std::map<std::pair<SessionNumber, Key>, ActiveCall>;
  struct Range {
    Calls::const_iterator first, last;
    Calls::const_iterator begin() const { return first; }
    Calls::const_iterator end() const { return last; }
  };
  // The session's calls, the oldest first.
  Range of(SessionNumber session) const {
    return {calls_.lower_bound({session, 0}), calls_.lower_bound({session + 1, 0})};
  }

 private:
  Backend* const backend_;
  SessionNumber last_session_ = 0;
  Key last_key_ = 0;
  Calls calls_;
};

inline RequestTable::Key RequestTable::add(SessionNumber session, ActiveCall call) {
  const Key key = ++last_key_;
  calls_.emplace(std::pair(session, key), std::move(call));
  return key;
}

inline ActiveCall* RequestTable::find(SessionNumber session, Key key) {
  const auto found = calls_.find({session, key});
  return found == calls_.end() ? nullptr : &found->second;
}

inline void RequestTable::remove(SessionNumber session, Key key) {
  // Destroyed only after it has left the table: destroying what it holds may remove other requests.
  const auto gone = calls_.extract({session, key});
}

inline void RequestTable::remove_all_of(SessionNumber session) {
  for (auto mine = of(session); mine.begin() != mine.end(); mine = of(session)) calls_.extract(mine.first);
}

}  // namespace rkllm_mcp
