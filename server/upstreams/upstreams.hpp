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

  // Those of all that are connected. A name that is taken is left out.
  void add_tools(Catalogue& catalogue) const;
  Json status() const;  // by name
  bool empty() const { return all_.empty(); }
  // Calls in progress are answered, then all connections end: within 300 ms, or they are left behind.
  void stop();

 private:
  struct Entry {
    std::shared_ptr<Upstream> upstream;
    Permission permission;  // that its tools take
  };
  std::vector<Entry> all_;
};

}  // namespace rkllm_mcp
