// MCP's Streamable HTTP as a connection, for both eras. Each message is a POST of its own, on a thread of its own; what
// the server answers, and what it says without being asked (the stream that a GET opens after
// `notifications/initialized`), comes out of receive().
//
// A message with `_meta["io.modelcontextprotocol/protocolVersion"]` is modern: headers repeat its facts, and cancelling
// it closes its response. All others share the session that `initialize` opens, which ends with this object (DELETE).
// A response that breaks off is resumed if its events had ids. A request that HTTP does not answer gets an error with
// code -32603 and `data` {url, status} from this side.
//
// A notification and `initialize` are answered by the server before the message behind them is sent, unless a
// notification takes too long. At most kMostInFlight requests run at once; more wait, up to kMostWaiting messages, and
// then send() waits. A response that the server leaves open after its last answer is closed after a second.
//
// Threads: send() from any, receive() from one, interrupt() from any. Destroying takes no longer than making a
// connection may (`deadline`, at most 10 s), and half a second more for the DELETE that ends the session.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/http/event_source.hpp"
#include "client/http/http_flight.hpp"
#include "client/http/http_server_state.hpp"
#include "client/mcp/inbox.hpp"
#include "clock.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rkllm_mcp::client {

class StreamableHttpConnection final : public Connection {
 public:
  static constexpr std::size_t kMostInFlight = 64;
  static constexpr std::size_t kMostWaiting = 1024;

  // Throws ConnectionError if nothing listens there, std::system_error if no thread can be started.
  StreamableHttpConnection(const Endpoint& endpoint, Clock::time_point deadline);
  ~StreamableHttpConnection() override;

  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override { return inbox_.take(deadline); }
  void interrupt() override;

 private:
  struct Waiting {
    MessageFacts facts;
    std::string message;
  };
  struct Running {
    std::unique_ptr<HttpFlight> flight;
    std::thread thread{};
    bool settled = false;   // nobody waits for what it still brings
    bool unwanted = false;  // to be stopped
    std::optional<Clock::time_point> stop_at{};
    bool ended = false;
  };
  struct Rested {
    std::unique_ptr<HttpRoundTrip> trip;
    Clock::time_point since;
  };

  // What cannot be done, for want of memory or of a thread, ends the connection, and nothing else.
  template <class Action>
  void or_fail(const Action& action);
  void end(const char* reason);  // also where there is no memory left
  bool cancel(const Json& id);   // true if nothing has to be sent for it
  void conduct();                // the conductor's thread: starts and stops the threads that post, and joins them
  bool may_start() const;        // whether the first message that waits may be posted now
  void start(Waiting waiting);
  HttpFlight::Callbacks callbacks_of(Running& running);
  // Marks flights whose time is over as unwanted. Returns when the next one's time is over; nothing if there is none.
  std::optional<Clock::time_point> look_at_times();
  void remove_ended(std::unique_lock<std::mutex>& lock);   // removes flights that have ended
  bool stop_unwanted(std::unique_lock<std::mutex>& lock);  // false if there are none
  void finish(HttpFlight& flight);
  void listen();
  void follow_events();  // the listener's thread
  std::unique_ptr<HttpRoundTrip> trip();
  void end_session();

  HttpServerState session_;
  Inbox inbox_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::list<Running> running_;
  std::vector<Rested> rested_;
  bool closing_ = false;

  // The stream of what the server says without being asked. The conductor's thread begins and ends it.
  std::unique_ptr<HttpRoundTrip> listening_trip_;
  std::unique_ptr<EventSource> listening_;
  std::thread listener_;
  bool listener_ended_ = false;  // guarded by mutex_

  std::thread conductor_;  // last, since it uses all the others
};

}  // namespace rkllm_mcp::client
