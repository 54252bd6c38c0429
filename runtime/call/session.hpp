// One client as long as it is known: who it is, what its handshake agreed on, and what it has under way, by request id,
// so that its calls can be cancelled, polled and counted.
//
// A session belongs to one connection, to one MCP session over HTTP, to one request of the stateless era over HTTP, or
// (shared) to all HTTP clients with the same token that have none of these. Event loop only.
//
// What keeps it alive: a connection's receiver, HttpSessions' table, or a task; and while it has requests in progress,
// what answers them: a tool's invocation, a service's call, an open subscriptions/listen. Nothing else keeps the
// session of a stateless request. The requests themselves are the RequestTable's.
#pragma once

#include "backend.hpp"
#include "call/request_table.hpp"
#include "clock.hpp"
#include "jsonrpc/message.hpp"
#include "jsonrpc/reply.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

namespace mcp {
struct Handshake;
}
struct Principal;

// On transports that may lose messages: how long what was sent is kept after its end, to be sent again.
inline constexpr std::chrono::milliseconds kKeptForLostMessages{30'000};

// Whose a session is. kManyClients: shared by HTTP clients that have none of their own; two of its ordinary calls may
// have the same id.
enum class SessionOf { kOneClient, kManyClients };

class Session : public std::enable_shared_from_this<Session> {
 public:
  // Without a table, and after its end, it has no requests. At the end of the program sessions may outlive the table.
  explicit Session(std::weak_ptr<RequestTable> requests, SessionOf clients = SessionOf::kOneClient);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  bool shared() const { return clients_ == SessionOf::kManyClients; }
  // Who its client is; null until that is known. What it may do is looked at in permission.hpp.
  const Principal* principal = nullptr;
  // It has presented a wrong token; its refusal is being delayed, and nothing that it says meanwhile counts.
  bool is_refused = false;
  // MCP: what `initialize` has agreed on; null before it, and for clients that never send it.
  std::shared_ptr<mcp::Handshake> handshake;
  // It has sent a request that only MCP has, in whichever revision.
  bool speaks_mcp = false;
  // Where messages go that answer no request of this session.
  std::weak_ptr<Peer> outlet;
  // A new session of the same client, with nothing in progress.
  std::shared_ptr<Session> sibling() const;

  using Key = RequestTable::Key;
  // `call.call` may still be 0, see started(). 0 if the table is gone.
  Key add(ActiveCall call, const Peer& client);
  // The backend has taken the call. `waiting_limit` is kept as long as the call is in progress, see Caller.
  void started(Key key, Backend::CallId call, std::unique_ptr<Timer> waiting_limit);
  void remove(Key key);
  // The call is over, but what it sent is retained until remove(), or until its id is used again, or until many others
  // have ended since.
  void retain(Key key);
  std::size_t active() const;
  Clock::time_point last_ended() const { return last_ended_; }  // when a call or a Hold last ended
  // How many calls this client has in progress. The clients of a shared session are told apart by their addresses, so
  // that none uses up the room of the others.
  std::size_t active_of(const Peer& client) const;
  bool is_active(const RequestId& id) const;
  // The stream that this client can poll under `id`, null if none. In a shared session each address has its own ids.
  const ActiveCall* find_stream(const RequestId& id, const Peer& client) const;
  const ActiveCall* find_stream_by_stream_id(std::string_view stream_id) const;
  // The stream that answers this very request and retains what it sent, null if there is none (any more).
  PushReader* stream_of(const Reply& reply) const;

  void cancel(Key key);
  // For notifications/cancelled. Ids are compared by value: 1 and 1.0 are the same. Unknown ones are ignored. In a
  // shared session only streams that this client polls can be cancelled.
  void cancel_request(const Json& id, const Peer& client);
  void cancel_all();
  // The client has gone: its calls are cancelled, and their readers told. exchange_gone(): only one exchange of a
  // client over HTTP has, and only the calls are cancelled that must not outlive it (see ActiveCall).
  void client_gone();
  void exchange_gone(const Peer& exchange);

  // Something that is no call of this session but has still to be answered, such as a poll that waits: the session is
  // not idle as long as one of these lives. It may outlive the session.
  class Hold {
   public:
    Hold() = default;  // holds no session
    explicit Hold(Session& session) : session_(session.weak_from_this()) { ++session.holds_; }
    Hold(const Hold& other);
    Hold(Hold&& other) noexcept = default;
    Hold& operator=(const Hold&) = delete;
    ~Hold();

   private:
    std::weak_ptr<Session> session_;
  };
  // Whether no call is active and no Hold lives.
  bool is_idle() const { return active() == 0 && holds_ == 0; }
  // Calls `action` as soon as that is so; at once if that is so already. A later action takes the
  // place of one that waits.
  void when_idle(std::function<void()> action);

 private:
  RequestTable::Range calls() const;
  template <class Predicate>
  const ActiveCall* find_call(const Predicate& predicate) const;
  std::function<bool(const ActiveCall&)> is_of(const Peer& client) const;
  template <class Wanted>
  void cancel_all_that(Wanted is_wanted);
  template <class Wanted>
  void tell_readers_that(Wanted is_wanted);
  void note_end();

  const std::weak_ptr<RequestTable> requests_;
  const RequestTable::SessionNumber number_;  // in the table
  const SessionOf clients_;
  Clock::time_point last_ended_{};
  std::size_t holds_ = 0;
  std::function<void()> idle_;
};

// As long as this lives the request counts as one in progress, and its session lives. Cancelling such a request does
// not end it; `cancelled` says whether it is answered all the same.
class InProgress {
 public:
  enum class Cancelled { kAnswered, kSilent };

  InProgress(Session& session, Reply& reply, Cancelled cancelled)
      : session_(session.shared_from_this()),
        key_(session.add({.id = reply.id(),
                          .reply = reply.shared_from_this(),
                          .answers_when_cancelled = cancelled == Cancelled::kAnswered},
                         reply.peer())) {}
  InProgress(const InProgress&) = delete;
  InProgress& operator=(const InProgress&) = delete;
  ~InProgress() { session_->remove(key_); }

 private:
  const std::shared_ptr<Session> session_;
  const Session::Key key_;
};

}  // namespace rkllm_mcp
