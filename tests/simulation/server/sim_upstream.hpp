// Another MCP server, as the link to it shows it: sim_upstream.cpp stands in place of
// server/upstreams/upstream_link.cpp. Its tool says something, bit by bit, and asks the client for something meanwhile.
// What goes there and what comes from there keeps its order; the connection is lost at times, and comes back, with a
// handshake or without.
#pragma once

#include "simulation/world/world.hpp"

#include "upstreams/upstream_link.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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
  // What it has asked, and nobody has answered or refused.
  std::size_t questions() const { return questions_.size(); }
  // Whether the call was cancelled after its client had been asked something and had long time to answer.
  bool was_given_up(const std::string& name) const { return given_up_.contains(name); }
  // Whether an answer of the client is still waited for: a client without a session may come with it, or never.
  bool may_wait_for(const std::string& client) const;
  // From now on it goes on with every call, and asks nothing more.
  void behave();

  // Of the link that there is.
  using Key = UpstreamLink::Key;
  void started(const UpstreamLink::Events& events);
  void call(UpstreamLink::Call call);
  void respond(Key question, client::Outcome outcome);
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
    std::uint32_t asked = 0;  // how often
  };
  struct Question {
    Key call;
    std::string about;
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
  void ask(Key key);
  void ask_by_the_end_of(Key key);
  void take_answers(Call& call, const Json& more);

  World& world_;
  const UpstreamLink::Events* events_ = nullptr;  // null: there is no link, or it has been stopped
  bool is_connected_ = false;
  bool has_handshake_ = true;  // as it was connected
  std::deque<std::function<void()>> there_;
  std::deque<std::function<void(const UpstreamLink::Events&)>> here_;
  bool there_offered_ = false;
  bool here_offered_ = false;
  std::map<Key, Call> calls_;
  struct Known {
    std::string name;
    Clock::time_point since;
  };
  std::map<Key, Known> known_;  // calls that there have been
  std::optional<Key> ending_;   // the call whose end is being told right now
  std::map<Key, Question> questions_;
  std::set<std::string> asked_by_the_end_;  // questions that have not been answered, by what they are about
  Key next_question_ = 1;
  Key first_question_ = 1;                                       // the first one on the present connection
  std::map<std::string, std::vector<Clock::time_point>> asked_;  // by client: when it was asked something
  std::set<std::string> given_up_;
  std::size_t losses_ = 0;
  bool behaves_ = false;
};

}  // namespace rkllm_mcp::simulation
