// The way to another MCP server: connects, lists its tools, makes calls, and connects again when the connection is
// lost.
//
// Threads: a thread of its own, since connecting and sending may block; it knows calls by their keys only, so that
// objects of the event loop are destroyed on the loop only. What comes of calls is handed to the loop until stop() is
// called, and never afterwards. Locks: `mutex_` guards what the thread, the client's reading thread and the loop share;
// not held while anything blocks.
#pragma once

#include "client/connection.hpp"
#include "client/mcp/mcp_client.hpp"
#include "clock.hpp"
#include "upstreams/offered.hpp"
#include "upstreams/stoppable_connection.hpp"
#include "upstreams/unsent_progress.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class UpstreamLink : public std::enable_shared_from_this<UpstreamLink> {
 public:
  using Key = std::uint64_t;
  // Throws ConnectionError; blocks until the deadline at most.
  using Connect = std::function<std::unique_ptr<client::Connection>(Clock::time_point)>;

  // All are called on the loop.
  struct Events {
    std::function<void(std::vector<Json> tools)> on_tools;
    std::function<void(const std::string& reason)> on_lost;  // also if there never was a connection
    std::function<void(const std::string& warning)> on_warning;
    std::function<void(Key call, const Json& progress)> on_progress;  // one update for all that came since the last one
    std::function<void(Key call, client::Outcome outcome)> on_end;
    // A list of something else than tools has come; null: these lists are dropped.
    std::function<void(Offered kind, std::vector<Json> list)> on_list{};
    std::function<void(const Json& params)> on_log{};  // of notifications/message, whatever they hold
    // The other server asks a client for a model's or a person's answer, which respond() sends. Null: it gets none.
    std::function<void(Key question, const std::string& method, const Json& params)> on_question{};
  };

  // The loop outlives the link's stop().
  UpstreamLink(asio::io_context& loop, Connect connect, Events events)
      : loop_(loop), connect_(std::move(connect)), events_(std::move(events)) {}
  // Once, before all that follows. From now on its thread shares it.
  void start();

  struct Call {
    Key key;
    std::string tool;
    Json arguments;
    std::optional<UnsentProgress::Messages> progress{};  // nothing: none is wanted
    Json meta{};                                         // of the request; null: none
    Json more = Json::object();                          // parameters beside name, arguments and _meta
  };
  void call(Call call);
  // The other server takes messages more slowly than they come: no more calls are to be made for now.
  bool is_behind();
  // Any other request, whose end is told like a call's.
  void ask(Key key, const std::string& method, const Json& params);
  void cancel(Key key);  // if it has not been sent, it never is
  void respond(Key question, client::Outcome outcome);

  // Begins to end: nothing is handed to the loop any more.
  void stop();
  // After stop(): waits for the thread. If it does not end in time (it looks up a name, or connects), it is left to
  // itself; it then keeps the link alive, and touches nothing else.
  void await_end(Clock::time_point deadline);

 private:
  using Job = std::function<void(client::McpClient* client)>;  // null: there is no connection
  struct WaitingJob {
    std::optional<Key> request;  // that it makes, if it makes one
    Job work;
  };

  bool is_stopping();
  void run();
  void serve_connection();
  void make_request(client::McpClient* client, Key key, const std::string& method, const Json& params,
                    std::optional<UnsentProgress::Messages> progress);
  void add_job(Job job, std::optional<Key> request = std::nullopt);
  // Waits until there is something to do. Null: nothing but what is due. Throws ConnectionError when the connection is
  // lost or this stops.
  Job next_job(Clock::time_point due, std::set<std::string>& changes);
  bool rest(std::chrono::milliseconds pause);                  // false: this stops
  void bring(std::function<void(const Events& events)> news);  // to the loop
  void bring_loss(const std::string& reason);
  void add_progress(Key key, UnsentProgress::Messages messages, const Json& params);
  void bring_progress();
  void take_notification(const std::string& method, const Json& params);
  void want_logs(client::McpClient& client);
  bool take_question(const Json& id, const std::string& method, const Json& params);

  asio::io_context& loop_;
  const Connect connect_;
  const Events events_;
  std::map<Key, client::McpClient::Id> ids_;  // of calls in progress; used by the link's thread only
  std::thread thread_;                        // used by the loop only
  StoppableConnection::Stop connection_stop_;

  std::atomic<int> waiting_logs_ = 0;  // the server's log messages that wait for the loop

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<WaitingJob> jobs_;
  std::map<Key, UnsentProgress> progress_;  // not empty: the loop has been asked to fetch it
  std::optional<std::string> lost_;         // why the connection was lost
  std::set<std::string> changes_;           // notifications of lists
  std::map<Key, Json> questions_;           // ids of the server's requests that are not answered yet
  Key next_question_ = 1;
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace rkllm_mcp
