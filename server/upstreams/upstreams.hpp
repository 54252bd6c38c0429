// The other MCP servers that the settings name, and their tools as tools of this one: NAME_TOOL. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "upstreams/upstream.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace rkllm_mcp {

class Upstreams {
 public:
  // `settings` is the section `upstreams`. `changed` is called when there are other tools than before. Throws
  // std::runtime_error that names the setting or the file that is wrong.
  Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log, const std::function<void()>& changed);

  // Those of all that are connected. Names of more than 64 characters are left out: hosts refuse them.
  void add_tools(Catalogue& catalogue) const;
  Json status() const;  // by name
  bool empty() const { return all_.empty(); }
  void stop();

 private:
  std::vector<std::shared_ptr<Upstream>> all_;
};

}  // namespace rkllm_mcp
