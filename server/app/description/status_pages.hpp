// What GET /health and GET /metrics say of the running server: docs/protocol.md explains each field.
//
// Threads: event loop only.
#pragma once

#include "app/endpoints/transports.hpp"
#include "app/runtime/runtime_life.hpp"
#include "app/services/chat_service.hpp"
#include "app/services/services.hpp"
#include "backend/queued_backend.hpp"
#include "clock.hpp"
#include "mcp/catalogue.hpp"
#include "memory_budget.hpp"
#include "models/known_models.hpp"
#include "models/load_progress.hpp"
#include "settings/settings.hpp"
#include "upstreams/upstreams.hpp"
#include "watch/metrics.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {

class StatusPages {
 public:
  // What they are about. All of it outlives this object; what is optional may still be empty when this is made.
  struct Shown {
    const Settings& settings;
    const RuntimeLife& runtime;
    const KnownModels& models;
    const Services& services;
    const Upstreams& upstreams;
    const std::optional<ChatService>& chat;
    const std::optional<Transports>& transports;
    const mcp::Catalogue& catalogue;
    const Metrics& metrics;
    MemoryBudget memory;
    std::function<std::uint64_t()> lost_log_lines;  // null: 0
    Clock::time_point started = Clock::now();
  };

  explicit StatusPages(Shown shown) : shown_(std::move(shown)) {}

  Json health();                    // of a server without models: health_of_services()
  Json health_of_services() const;  // on their own port
  std::string metrics() const;      // in the text format of Prometheus

 private:
  Json health_of(const QueuedBackend::HandleStatus& handle) const;
  std::int64_t uptime_s() const;

  const Shown shown_;
  LoadsUnderWay loads_;
};

}  // namespace rkllm_mcp
