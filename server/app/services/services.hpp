// The services that this server has beside the models (mcp/service.hpp), and their own port.
//
// A new service is made in the constructor, and named in kServiceNames; nothing else has to know of it.
//
// Event loop only.
#pragma once

#include "api.hpp"
#include "app/endpoints/http_routes.hpp"
#include "backend/unavailable_backend.hpp"
#include "clock.hpp"
#include "dispatch/dispatcher.hpp"
#include "immutable.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/service.hpp"
#include "memory/memory_service.hpp"
#include "settings/settings.hpp"
#include "tools/tool_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// All that there are, as services.only may name them.
inline constexpr std::array<std::string_view, 2> kServiceNames{memory::kServiceName, kToolServerName};

// Whether services.only lets that server run, by its name.
bool is_wanted(const Settings& settings, std::string_view name);

// What the settings say of the memory server.
memory::MemoryOptions memory_options(const Settings& settings);

// Whether models can be loaded: services.only does not leave their server out.
inline bool runs_models(const Settings& settings) { return is_wanted(settings, settings.server.name); }

class Services {
 public:
  // Called on the loop when something has happened that clients want to hear of. It calls `tell` with each MCP server
  // that they may be connected to.
  using TellFunction = std::function<void(const std::function<void(mcp::Server& mcp)>& tell)>;

  // `removed`: messages have been deleted from the memory. Throws std::runtime_error if services.only names a server
  // that does not exist.
  Services(asio::io_context& loop, const Settings& settings, spdlog::logger& log, const TellFunction& tell,
           std::function<void()> removed);
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  void add_to(mcp::Catalogue& catalogue) const;
  // The services that run. memory_server() and tool_server() return nothing if theirs does not run.
  const std::vector<Immutable<mcp::Service>>& all() const { return all_; }
  std::optional<Immutable<mcp::Service>> memory_server() const {
    return memory_ ? std::optional(memory_->service()) : std::nullopt;
  }
  std::optional<Immutable<mcp::Service>> tool_server() const {
    return tools_ ? std::optional(tools_->service()) : std::nullopt;
  }
  std::vector<std::string> names() const;
  Json status() const;  // for /health, by name
  bool is_well() const;
  // They take no more; what has been asked for is still done.
  void stop();
  // After stop(), and on any thread: whether they have come to their end in time.
  bool end(Clock::time_point deadline) { return !tools_ || tools_->end(deadline); }

 private:
  std::optional<memory::MemoryService> memory_;
  std::optional<ToolServer> tools_;
  std::vector<Immutable<mcp::Service>> all_;
};

// A catalogue of the services alone.
mcp::Catalogue describe_services(const Settings& settings, const Services& services);

// The services on an HTTP port of their own: the same paths as on the server's, without the models.
class ServicesPort {
 public:
  ServicesPort(asio::io_context& loop, const Settings& settings, const Services& services,
               const Dispatcher::Options& options, HttpRoutes::StatusFunction health, HttpRoutes::TextFunction metrics);

  void handle(const http::Request& request, http::Exchange& exchange) { routes_.handle(request, exchange); }
  const Principal* identify(const http::Request& head) { return dispatcher_.gate().principal_of(head); }
  mcp::Server& mcp() { return dispatcher_.mcp(); }

 private:
  const Api no_functions_{};
  const mcp::Catalogue catalogue_;
  NoFunctions backend_;
  Dispatcher dispatcher_;
  HttpRoutes routes_;
};

}  // namespace rkllm_mcp
