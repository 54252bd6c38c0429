#include "app/description/status_pages.hpp"

#include "backend/handle_resources.hpp"
#include "version.hpp"
#include "watch/board.hpp"

#include <chrono>
#include <string_view>
#include <vector>

namespace rkllm_mcp {
namespace {

using Handles = std::vector<QueuedBackend::HandleStatus>;

void print_queues(std::string& text, const Handles& handles) {
  print_family(text, "rkllm_mcp_running", "gauge", "1 while a call is made on the handle.");
  for (const auto& handle : handles) {
    print_sample(text, "rkllm_mcp_running", label("handle", handle.id), handle.running ? 1 : 0);
  }
  print_family(text, "rkllm_mcp_queued", "gauge", "Calls that wait for the handle.");
  for (const auto& handle : handles) {
    print_sample(text, "rkllm_mcp_queued", label("handle", handle.id), static_cast<double>(handle.queue.size()));
  }
}

void print_models(std::string& text, const Handles& handles, const Metrics& metrics) {
  const auto labels_of = [](const QueuedBackend::HandleStatus& handle) {
    return label("handle", handle.id) + "," + label("model", model_name_of(handle));
  };
  print_family(text, "rkllm_mcp_model_info", "gauge", "A loaded model: its handle, its name, the path of its file.");
  for (const auto& handle : handles) {
    print_sample(text, "rkllm_mcp_model_info", labels_of(handle) + "," + label("path", model_path_of(handle)), 1);
  }
  const auto print_speeds = [&](std::string_view name, std::string_view help, const auto& speed_in) {
    print_family(text, name, "gauge", help);
    for (const auto& handle : handles) {
      const auto speed = speed_in(speed_of(handle.last_perf));
      if (speed) print_sample(text, name, labels_of(handle), *speed);
    }
  };
  print_speeds("rkllm_mcp_model_tokens_per_second", "Tokens generated per second in the handle's latest run.",
               [](const RunSpeed& speed) { return speed.tokens_per_second; });
  print_speeds("rkllm_mcp_model_prefill_tokens_per_second",
               "Tokens of the prompt computed per second in the handle's latest run.",
               [](const RunSpeed& speed) { return speed.prefill_tokens_per_second; });
  print_family(text, "rkllm_mcp_model_time_to_first_token_seconds", "gauge",
               "What the client of the handle's latest run or chat turn has waited for its first token.");
  for (const auto& handle : handles) {
    const auto seconds = metrics.first_token_of(handle.id);
    if (seconds) print_sample(text, "rkllm_mcp_model_time_to_first_token_seconds", labels_of(handle), *seconds);
  }
}

void print_connections(std::string& text, const Json& transports) {
  print_family(text, "rkllm_mcp_connections", "gauge", "Open connections; of UDP, peers.");
  for (const auto& [transport, status] : transports.items()) {
    if (!status.contains("connections")) continue;
    print_sample(text, "rkllm_mcp_connections", label("transport", transport), status["connections"].get<double>());
  }
}

}  // namespace

Json StatusPages::health() {
  if (!runs_models(shown_.settings)) return health_of_services();
  Json servers = Json::array({shown_.catalogue.name});
  if (shown_.chat) servers.push_back(shown_.chat->service()->name);
  for (const std::string& name : shown_.services.names()) servers.push_back(name);
  Runtime& runtime = shown_.runtime.now();
  Json models = Json::array();
  for (const auto& handle : runtime.handles()) models.push_back(health_of(handle));
  const QueuedBackend* const queue = runtime.queued();
  return Json{{"status", runtime.trouble().empty() ? "healthy" : "degraded"},
              {"chat", shown_.chat ? shown_.chat->status() : Json(nullptr)},
              {"name", shown_.catalogue.name},
              {"version", kProgramVersion},
              {"uptime_s", uptime_s()},
              {"servers", std::move(servers)},
              {"services", shown_.services.status()},
              {"runtime", shown_.runtime.status()},
              {"models", std::move(models)},
              {"loading", queue == nullptr ? Json::array() : loads_.status(queue->loads())},
              {"npu", npu_status("/")},
              {"upstreams", shown_.upstreams.status()},
              {"transports", shown_.transports->status()}};
}

Json StatusPages::health_of_services() const {
  return Json{{"status", shown_.services.is_well() ? "healthy" : "degraded"},
              {"servers", shown_.services.names()},
              {"services", shown_.services.status()},
              {"version", kProgramVersion},
              {"uptime_s", uptime_s()},
              {"transports", shown_.transports->status()}};
}

Json StatusPages::health_of(const QueuedBackend::HandleStatus& handle) const {
  Json model = model_of(handle);
  model["name"] = shown_.models.name_of(handle);
  const std::string family = shown_.models.family_of(handle);
  model["template"] = family.empty() ? Json(nullptr) : Json(family);
  const auto seconds = shown_.metrics.first_token_of(handle.id);
  model["time_to_first_token_ms"] = seconds ? Json(*seconds * 1000) : Json(nullptr);
  return model;
}

std::int64_t StatusPages::uptime_s() const {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - shown_.started).count();
}

std::string StatusPages::metrics() const {
  const Runtime& runtime = shown_.runtime.now();
  std::string text = shown_.metrics.text();
  print_family(text, "rkllm_mcp_runtime_info", "gauge", "The API that is served; simulated=\"true\": no model runs.");
  print_sample(text, "rkllm_mcp_runtime_info",
               label("version", runtime.version()) + (runtime.simulated() ? "," + label("simulated", "true") : ""), 1);
  const auto handles = runtime.handles();
  print_queues(text, handles);
  print_models(text, handles, shown_.metrics);
  print_family(text, "rkllm_mcp_memory_bytes", "gauge",
               "What requests, answers and streams take of limits.memory_bytes.");
  print_sample(text, "rkllm_mcp_memory_bytes", {}, static_cast<double>(shown_.memory.used()));
  print_family(text, "rkllm_mcp_lost_log_lines_total", "counter",
               "Lines of the log that could not be written in time.");
  print_sample(text, "rkllm_mcp_lost_log_lines_total", "",
               static_cast<double>(shown_.lost_log_lines ? shown_.lost_log_lines() : 0));
  print_connections(text, shown_.transports->status());
  return text + board_metrics("/");
}

}  // namespace rkllm_mcp
