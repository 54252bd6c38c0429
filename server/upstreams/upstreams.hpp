// The other MCP servers that the settings name; their tools and prompts as this one's, NAME_TOOL, and their resources
// as upstream://NAME/ADDRESS. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "upstreams/upstream.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp {

class Upstreams {
 public:
  // `settings` is the section `upstreams`. Throws std::runtime_error that names the setting or the file that is wrong.
  Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log, const Upstream::Events& events);

  // What all that are connected offer. The catalogue is not to be used longer than this.
  void add_to(Catalogue& catalogue) const;
  Json status() const;  // by name
  bool empty() const { return all_.empty(); }
  // Calls in progress are answered, then all connections end: within 300 ms, or they are left behind.
  void stop();

 private:
  struct Entry {
    std::shared_ptr<Upstream> upstream;
    Permission permission;  // that all it offers takes
  };

  void add_tools(const Entry& entry, Catalogue& catalogue) const;
  void add_prompts(const Entry& entry, Catalogue& catalogue) const;
  // The name that a tool or prompt has here, where `plain` may be, or become, another one's.
  std::string name_here(const Entry& entry, const std::string& plain, const std::string& there, bool is_taken) const;

  std::vector<Entry> all_;
};

}  // namespace rkllm_mcp
