// Another MCP server, as the link to it shows it: sim_upstream.cpp stands in place of
// server/upstreams/upstream_link.cpp. Its tool says something, bit by bit. What goes there and what comes from there
// keeps its order; the connection is lost at times, and comes back.
#pragma once

#include "world.hpp"

#include "upstreams/upstream_link.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

class SimUpstream {
 public:
  static constexpr std::string_view kName = "far";
  static constexpr std::string_view kSays = "say";

  explicit SimUpstream(World& world);
  SimUpstream(const SimUpstream&) = delete;
  SimUpstream& operator=(const SimUpstream&) = delete;
  ~SimUpstream();

  bool is_making(std::string_view name) const;
  std::size_t calls() const { return calls_.size(); }
  // How often the connection has been lost.
  std::size_t losses() const { return losses_; }
  // From now on it goes on with every call.
  void behave();

  // Of the link that there is.
  using Key = UpstreamLink::Key;
  void started(const UpstreamLink::Events& events);
  void call(UpstreamLink::Call call);
  void ping(Key key);
  void refuse(Key key);
  void cancel(Key key);
  void stopped();

 private:
  struct Call {
    std::string name;
    std::size_t tokens = 0;
    std::size_t given = 0;
    bool tells_progress = false;
    bool is_offered = false;
  };

  void plan();
  void goes_there(std::function<void()> action);
  void comes_here(std::function<void(const UpstreamLink::Events& events)> news);
  void offer_there();
  void offer_here();
  void connect();
  void lose();
  void offer(Key key);
  void work(Key key);
  void end(Key key, client::Outcome outcome);

  World& world_;
  const UpstreamLink::Events* events_ = nullptr;  // null: there is no link, or it has been stopped
  bool is_connected_ = false;
  std::deque<std::function<void()>> there_;
  std::deque<std::function<void(const UpstreamLink::Events&)>> here_;
  bool there_offered_ = false;
  bool here_offered_ = false;
  std::map<Key, Call> calls_;
  std::size_t losses_ = 0;
  bool behaves_ = false;
};

}  // namespace rkllm_mcp::simulation
