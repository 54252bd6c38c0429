// The other MCP servers that the settings name; their tools and prompts as this one's, NAME_TOOL, and their resources
// as upstream://NAME/ADDRESS. Event loop only.
#pragma once

#include "mcp/catalogue.hpp"
#include "upstreams/upstream.hpp"
#include "upstreams/upstream_tool.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp {

class Upstreams {
 public:
  struct Events {
    // The lists of these kinds have changed. Changes at one time are told in one call, since adding it all takes time.
    std::function<void(const std::set<Offered>& kinds)> on_changed;
    // Called for the log messages of these servers, to pass them on to clients; null: they are dropped.
    std::function<void(mcp::Severity level, const std::string& logger, const Json& data)> on_log{};
  };

  // `settings` is the section `upstreams`, whose form has been checked (settings/). Throws std::runtime_error that
  // names the setting or the file that is wrong.
  Upstreams(asio::io_context& loop, const Json& settings, spdlog::logger& log, Events events);

  // What all that are connected offer. The catalogue is not to be used longer than this.
  void add_to(mcp::Catalogue& catalogue) const;
  Json status() const;  // by name
  bool empty() const { return all_.empty(); }
  // Answers calls in progress, and ends all connections. Blocks for up to 300 ms; what has not ended is left behind.
  void stop();

 private:
  struct Entry {
    std::unique_ptr<Upstream> upstream;
    Permission permission;  // needed for all that it offers
  };

  void add_tools(const Entry& entry, mcp::Catalogue& catalogue, ServedNames& names) const;
  void add_prompts(const Entry& entry, mcp::Catalogue& catalogue, ServedNames& names) const;
  void add_resources(const Entry& entry, mcp::Catalogue& catalogue) const;
  void note_change(Offered kind);
  // The names that all upstreams can get beside those that are served already.
  template <class Entries>
  ServedNames names_beside(const Entries& served) const;

  asio::io_context& loop_;
  const Events events_;
  std::set<Offered> changes_;  // not empty: the loop has been asked to tell of them
  std::vector<Entry> all_;
};

}  // namespace rkllm_mcp
