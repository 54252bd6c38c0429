// The way to another MCP server: connects, lists its tools, makes calls, and connects again when the connection is lost.
//
// Threads: a thread of its own, since connecting and sending may block; calls are known to it by their keys only, so
// that nothing of the event loop's is ever let go of elsewhere. What comes of it is handed to the loop until stop() has
// returned, and never afterwards. Locks: `mutex_` guards jobs and the end; not held while anything blocks.
#pragma once

#include "client/endpoint.hpp"
#include "client/mcp_client.hpp"

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
#include <string>
#include <vector>

namespace rkllm_mcp {

class UpstreamLink : public std::enable_shared_from_this<UpstreamLink> {
 public:
  using Key = std::uint64_t;

  // All are called on the loop.
  struct Events {
    std::function<void(std::vector<Json> tools)> on_tools;
    std::function<void(const std::string& reason)> on_lost;  // also if there never was a connection
    std::function<void(Key call, const Json& progress)> on_progress;
    std::function<void(Key call, client::Outcome outcome)> on_end;
  };

  // The loop outlives the link's stop().
  static std::shared_ptr<UpstreamLink> start(asio::io_context& loop, const client::Endpoint& endpoint, Events events);
  UpstreamLink(asio::io_context& loop, client::Endpoint endpoint, Events events)
      : loop_(loop), endpoint_(std::move(endpoint)), events_(std::move(events)) {}

  struct Call {
    Key key;
    std::string tool;
    Json arguments;
    enum class Progress { kUnwanted, kWanted } progress;
  };
  void call(Call call);
  void cancel(Key key);

  // A thread that is in the middle of connecting is left behind; it touches nothing any more.
  void stop();

 private:
  using Job = std::function<void(client::McpClient* client)>;  // null: there is no connection

  bool is_stopping();
  void run();
  void serve_connection();
  void list_tools(client::McpClient& client);
  void make_call(client::McpClient* client, const Call& call);
  Job next_job(const std::atomic<bool>& lost);  // null when the connection is lost or this stops
  void add_job(Job job);
  bool rest(std::chrono::milliseconds pause);  // false: this stops
  void bring(std::function<void(const Events& events)> news);  // to the loop

  asio::io_context& loop_;
  const client::Endpoint endpoint_;
  const Events events_;
  std::map<Key, client::McpClient::Id> ids_;  // of calls in progress; the thread's own

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace rkllm_mcp
