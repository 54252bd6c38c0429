// Another MCP server, whose tools are served here. Event loop only.
#pragma once

#include "mcp/invocation.hpp"
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
  // `changed` is called when there are other tools than before. Loop and log outlive the upstream.
  Upstream(asio::io_context& loop, std::string name, const client::Endpoint& endpoint, spdlog::logger& log,
           std::function<void()> changed);
  ~Upstream() { stop(); }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  const std::string& name() const { return name_; }
  // As the server there lists them; none while it cannot be reached.
  const std::vector<Json>& tools() const { return tools_; }
  // {"url","connected","tools","reason"}
  Json status() const;
  // Passes a call of one of its tools on; progress and cancellation, too.
  void call(const std::string& tool, const std::shared_ptr<Invocation>& invocation);
  void stop() { link_->stop(); }

 private:
  Json unavailable(const std::string& reason) const;  // as a tool's result
  void take_tools(std::vector<Json> tools);
  void lose(const std::string& reason);
  void take_progress(UpstreamLink::Key key, Json progress);
  void take_end(UpstreamLink::Key key, client::Outcome outcome);

  const std::string name_;
  const std::string url_;
  spdlog::logger& log_;
  const std::function<void()> changed_;
  std::vector<Json> tools_;
  std::string reason_ = "not connected yet";  // empty: it is connected
  std::map<UpstreamLink::Key, std::shared_ptr<Invocation>> calls_;
  UpstreamLink::Key next_key_ = 1;
  const std::shared_ptr<UpstreamLink> link_;
};

}  // namespace rkllm_mcp
