// Numbered requests over a connection: answers and progress find the one who asked, whatever order they come in.
// The server's `ping` is answered; its other requests are refused with -32601, unless somebody takes them.
//
// Threads: a thread of its own reads, and makes every callback, one at a time; the rest may be called from any thread,
// also from callbacks (but not the blocking call()). Callbacks must not wait long, since nothing is read meanwhile. One
// lock guards the requests in flight; it is not held during callbacks. What the server asks is answered by another
// thread, so that reading goes on although the server may not read; what it asks while kMostAnswers answers wait to be
// sent is not answered.
//
// When the connection is lost, every request in flight ends with RemoteError -32603, `is_lost` and the reason, then
// on_lost is called, once. It counts as lost, too, when there is no memory for what the server says, or when on_end or
// another callback throws; on_lost must not. An error without id belongs to the request in flight if there is one only;
// if there are more, it is as if the connection were lost. Destroying ends within a second after the callback that
// runs, if any, and makes no more: requests in flight are forgotten.
#pragma once

#include "client/connection.hpp"
#include "client/mcp/message_facts.hpp"
#include "immutable.hpp"

#include <rkllm_mcp/json.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace rkllm_mcp::client {

class NumberedRequests {
 public:
  using Id = std::int64_t;

  static constexpr std::size_t kMostAnswers = 16;

  struct Callbacks {
    // The parameters of each notifications/progress whose `progress` exceeds the last one's. Empty: none is asked for.
    std::function<void(const Json& params)> on_progress{};
    // Once, unless the request is cancelled.
    std::function<void(Outcome outcome)> on_end;
  };
  struct Events {
    std::function<void(const std::string& method, const Json& params)> on_notification{};  // not for progress
    std::function<void(const std::string& reason)> on_lost{};
    // A request of the server. True: respond() answers it, some time. Null: none is taken.
    std::function<bool(const Json& id, const std::string& method, const Json& params)> on_request{};
  };

  // The connection must allow sending and receiving at the same time. Throws std::system_error if no thread can be
  // started.
  NumberedRequests(std::unique_ptr<Connection> connection, Events events);
  NumberedRequests(const NumberedRequests&) = delete;
  NumberedRequests& operator=(const NumberedRequests&) = delete;
  ~NumberedRequests();

  // Throws ConnectionError once the connection is lost, std::invalid_argument if the connection cannot carry it,
  // std::bad_alloc; then there is no callback.
  Id request(const std::string& method, Json params, Callbacks callbacks);
  void notify(const std::string& method, const Json& params);
  // Tells the server, and forgets the request: no callback for it begins any more, though one that has begun on the
  // reading thread may still run. Nothing happens if it has ended.
  void cancel(Id id, const std::string& reason);
  // Answers a request of the server that on_request has taken. Any thread; does not wait, since another thread sends.
  void respond(const Json& id, const Outcome& outcome);
  // Asks and waits; cancels and gives nothing when the time is over. Throws ConnectionError when the connection is
  // lost. Not to be called from a callback.
  std::optional<Outcome> call(const std::string& method, Json params, std::chrono::milliseconds patience);

 private:
  struct Pending {
    Immutable<Callbacks> callbacks;    // also held by the reading thread while it calls one
    std::optional<double> progress{};  // the last value that was told
  };

  void send(const Json& message);
  void read();
  void take(const Json& message);
  void take_answer(const Json& message);
  void take_error_without_id(const Json& error);
  void take_progress(const Json& params);
  void take_request(const Json& message);
  void answer();
  void end_answering();
  void lose(Loss loss);

  const std::unique_ptr<Connection> connection_;
  const Events events_;
  std::mutex sending_;  // one message at a time
  std::mutex mutex_;    // guards what follows
  std::map<Id, Pending> pending_;
  Id next_id_ = 1;
  std::optional<Loss> lost_;
  std::atomic<bool> closing_ = false;
  std::mutex answering_;  // guards what follows
  std::condition_variable answers_changed_;
  std::deque<Json> answers_;  // to what the server asks
  bool answers_are_over_ = false;
  std::thread answerer_;
  std::thread reader_;  // last, since it uses all the others
};

}  // namespace rkllm_mcp::client
