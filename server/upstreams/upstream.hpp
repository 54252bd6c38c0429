// Another MCP server, whose tools, resources and prompts are served here. Event loop only.
#pragma once

#include "deadline.hpp"
#include "lifetime.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/tools/invocation.hpp"
#include "upstreams/offered.hpp"
#include "upstreams/unsent_progress.hpp"
#include "upstreams/upstream_link.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

class Upstream {
 public:
  struct Events {
    std::function<void(Offered kind)> on_changed;  // the list of that kind has changed
    // Called for the other server's log messages, to pass them on to clients; null: they are dropped.
    std::function<void(mcp::Severity level, const std::string& logger, const Json& data)> on_log{};
  };

  // `address`, a URL or a program, is for people. Loop and log outlive the upstream.
  Upstream(asio::io_context& loop, std::string name, std::string address, UpstreamLink::Connect connect,
           spdlog::logger& log, Events events, ToolFilter filter = {});
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  const std::string& name() const { return name_; }
  // The tools that can be served, as the server there lists them; none while it cannot be reached.
  const std::vector<Json>& tools() const { return tools_; }
  // What it offers of a kind other than tools, as the server there lists it.
  const std::vector<Json>& list(Offered kind) const { return others_.at(static_cast<std::size_t>(kind)); }
  // {"url" or "command","connected","tools","reason"}
  Json status() const;
  // Passes a call of one of its tools on; progress and cancellation, too.
  void call(const std::string& tool, mcp::Invocation& invocation);
  // Reads one of its resources, by its address there; gets one of its prompts, by its name there.
  void read(const std::string& uri, mcp::Invocation& invocation);
  void get_prompt(const std::string& prompt, mcp::Invocation& invocation);
  // Calls in progress are answered, and nothing is done any more; await_end() waits for what still ends.
  void stop();
  void await_end(Clock::time_point deadline) { link_->await_end(deadline); }

 private:
  struct Running {
    std::shared_ptr<mcp::Invocation> invocation;
    UnsentProgress progress;  // not sent yet: the client has had no room for it
    Offered kind = Offered::kTools;
    std::optional<UpstreamLink::Key> question{};  // of the other server, which this call's client is asked now
    Clock::time_point asked_at{};
    std::optional<client::Outcome> end{};  // of the call, if it came while a client without a handshake was asked
  };
  using Calls = std::map<UpstreamLink::Key, Running>;
  // Calls were cancelled at the server there. A ping was sent after the last cancellation: when it is answered, the
  // server has read them all.
  struct UnreadCancels {
    UpstreamLink::Key ping;
    Clock::time_point at;
    std::weak_ptr<Session> session;  // the session of all these calls; empty: they were of several
  };

  // Ends a call that fails. Of a tool it ends with a result that says so, since a model reads results only.
  void refuse(const Running& running, const std::string& reason) const;
  // The key of the call that has begun; nothing if it was refused.
  std::optional<UpstreamLink::Key> begin(Running running);
  void ask(Running running, const std::string& method, Json params);
  void take_list(Offered kind, std::vector<Json> list);
  void take_log(const Json& params) const;
  void take_question(UpstreamLink::Key question, const std::string& method, const Json& params);
  bool resume(mcp::Invocation& invocation);  // false: it brings no answer to a `question`
  void ask_client(const Running& running, const Json& result);
  Calls::iterator whom_to_ask(const std::string& method);  // the newest call whose client can be asked
  void watch_end(UpstreamLink::Key key, mcp::Invocation& invocation);
  void let_go(Calls::iterator call);
  void take_ping(UpstreamLink::Key key);
  void let_go_of_abandoned();
  void take_tools(std::vector<Json> tools);
  void warn(const std::string& warning);
  void lose(const std::string& reason);
  void end_calls(const std::string& reason);
  void take_progress(UpstreamLink::Key key, const Json& progress);
  void take_end(UpstreamLink::Key key, client::Outcome outcome);
  void tell(Running& running);

  const std::string name_;
  const std::string address_;
  const ToolFilter filter_;
  spdlog::logger& log_;
  const Events events_;
  std::vector<Json> tools_;
  std::array<std::vector<Json>, 4> others_;      // what it offers besides tools, by Offered
  std::vector<std::string> left_out_;            // names of tools of the last list that are not served
  std::string warning_;                          // the last that was told
  std::string reason_ = "not connected yet";     // empty: it is connected
  std::optional<UnreadCancels> unread_cancels_;  // what the server asks may be about one of these calls
  Calls calls_;  // those whose invocation has ended wait for the client to come again with an answer
  UpstreamLink::Key next_key_ = 1;
  bool stopped_ = false;
  Deadline abandoned_;    // when the next client that was asked has waited too long to answer
  const Lifetime alive_;  // invocations may outlive it
  const std::shared_ptr<UpstreamLink> link_;
};

}  // namespace rkllm_mcp
