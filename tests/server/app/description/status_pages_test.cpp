#include "app/description/status_pages.hpp"

#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// At ports that are free, with TCP alone, and a memory that ends with the test.
Settings settings_of_pages() {
  Settings settings;
  settings.memory.database = ":memory:";
  settings.tcp.enabled = true;
  settings.tcp.address = "127.0.0.1";
  settings.tcp.port = 0;
  settings.udp.enabled = settings.http.enabled = settings.ws.enabled = settings.services.enabled = false;
  return settings;
}

// A server's parts as far as its pages look at them, without a library.
class ShownServer {
 public:
  explicit ShownServer(Settings given = settings_of_pages(), std::function<std::uint64_t()> lost_log_lines = {})
      : settings(std::move(given)),
        pages({.settings = settings,
               .runtime = runtime,
               .models = models,
               .services = services,
               .upstreams = upstreams,
               .chat = chat,
               .transports = transports,
               .catalogue = catalogue,
               .metrics = metrics,
               .memory = memory,
               .lost_log_lines = std::move(lost_log_lines)}) {
    catalogue.name = "rkllm-server";
    transports.emplace(
        loop.loop(), settings, Transports::Context{}, [](Peer&) { return [](const Received&) {}; }, nullptr,
        std::nullopt);
  }
  ShownServer(const ShownServer&) = delete;
  ShownServer& operator=(const ShownServer&) = delete;
  ~ShownServer() {
    transports.reset();
    services.stop();
    CHECK(services.end(Clock::now() + std::chrono::seconds(60)));
  }

  WaitingLoop loop;
  Settings settings;
  spdlog::logger log{"test"};
  Metrics metrics;
  RuntimeLife runtime{loop.loop(), settings, log,
                      [](const Settings&) { return std::make_unique<Runtime>(runtime_unavailable("there is none")); }};
  ModelRuntime model_runtime;
  KnownModels models{loop.loop(), log, model_runtime, {}, {}};
  Services services{loop.loop(), settings, log, [](const std::function<void(mcp::Server&)>&) {}, [] {}};
  Upstreams upstreams{loop.loop(), Json::object(), log, {}};
  std::optional<ChatService> chat;
  std::optional<Transports> transports;
  mcp::Catalogue catalogue;
  MemoryBudget memory{1'000'000};
  StatusPages pages;
};

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a server without a library says so, and null of what it does not have") {
  ShownServer server;
  const Json health = server.pages.health();
  CHECK(health["status"] == "degraded");
  CHECK(health["name"] == "rkllm-server");
  CHECK(health["models"] == Json::array());
  CHECK(health["loading"] == Json::array());
  CHECK(health["chat"].is_null());
  CHECK(health["upstreams"] == Json::object());
  CHECK(health["servers"] == Json{"rkllm-server", "memory-server", "tool-server"});
  CHECK(health["runtime"]["state"] == "gone");
  CHECK(health["transports"]["tcp"]["port"].get<int>() > 0);
  CHECK(health["uptime_s"] == 0);
  CHECK(health.contains("npu"));
  CHECK_FALSE(health["version"].get<std::string>().empty());
}

TEST_CASE("a server without models tells of its services alone, as their own port does") {
  Settings settings = settings_of_pages();
  settings.services.only = {"tool-server"};
  ShownServer server(settings);
  const Json health = server.pages.health();
  CHECK(health == server.pages.health_of_services());
  CHECK(health["status"] == "healthy");
  CHECK(health["servers"] == Json{"tool-server"});
  CHECK(health["transports"].contains("tcp"));
  CHECK_FALSE(health.contains("runtime"));
}

TEST_CASE("the metrics have every figure with its type, and none that is not known") {
  ShownServer server(settings_of_pages(), [] { return std::uint64_t{42}; });
  MemoryShare share(server.memory);
  share.set(12'345);
  const std::string text = server.pages.metrics();
  CHECK(has_line(text, "rkllm_mcp_memory_bytes 12345"));
  CHECK(has_line(text, "rkllm_mcp_lost_log_lines_total 42"));
  CHECK(has_line(text, R"(rkllm_mcp_connections{transport="tcp"} 0)"));
  CHECK(has_line(text, "# TYPE rkllm_mcp_memory_bytes gauge"));
  CHECK(has_line(text, "# TYPE rkllm_mcp_lost_log_lines_total counter"));
  CHECK(has_line(text, "# TYPE rkllm_mcp_running gauge"));
  CHECK_THAT(text, has_text("rkllm_mcp_runtime_info{version="));
  CHECK(text.find(R"(simulated="true"})") == std::string::npos);
  CHECK(text.find("handle=") == std::string::npos);
  CHECK(text.ends_with("\n"));
}

TEST_CASE("where nobody counts lines of the log, none is lost") {
  ShownServer server;
  CHECK(has_line(server.pages.metrics(), "rkllm_mcp_lost_log_lines_total 0"));
}
