// Another MCP server, whose tools are served here. Event loop only.
#pragma once

#include "mcp/invocation.hpp"
#include "upstreams/tool_filter.hpp"
#include "upstreams/unsent_progress.hpp"
#include "upstreams/upstream_link.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp {

class Upstream {
 public:
  // `place`, a URL or a program, is for people. `changed` is called when there are other tools than before. Loop and
  // log outlive the upstream.
  Upstream(asio::io_context& loop, std::string name, std::string place, UpstreamLink::Connect connect,
           spdlog::logger& log, std::function<void()> changed, ToolFilter filter = {});
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  const std::string& name() const { return name_; }
  // Those that can be served, as the server there lists them; none while it cannot be reached.
  const std::vector<Json>& tools() const { return tools_; }
  // {"url" or "command","connected","tools","reason"}
  Json status() const;
  // Passes a call of one of its tools on; progress and cancellation, too.
  void call(const std::string& tool, const std::shared_ptr<Invocation>& invocation);
  // Calls in progress are answered, and nothing is done any more; await_end() waits for what still ends.
  void stop();
  void await_end(UpstreamLink::Clock::time_point deadline) { link_->await_end(deadline); }

 private:
  struct Running {
    std::shared_ptr<Invocation> invocation;
    UnsentProgress progress;  // that the client has had no room for
  };

  Json unavailable(const std::string& reason) const;  // as a tool's result
  void take_tools(std::vector<Json> tools);
  void warn(const std::string& warning);
  void lose(const std::string& reason);
  void end_calls(const std::string& reason);
  void take_progress(UpstreamLink::Key key, const Json& progress);
  void take_end(UpstreamLink::Key key, client::Outcome outcome);
  void tell(Running& running);

  const std::string name_;
  const std::string place_;
  const ToolFilter filter_;
  spdlog::logger& log_;
  const std::function<void()> changed_;
  std::vector<Json> tools_;
  std::vector<std::string> left_out_;         // of the last list
  std::string warning_;                       // the last one
  std::string reason_ = "not connected yet";  // empty: it is connected
  std::map<UpstreamLink::Key, Running> calls_;
  UpstreamLink::Key next_key_ = 1;
  bool stopped_ = false;
  const std::shared_ptr<UpstreamLink> link_;
};

}  // namespace rkllm_mcp
