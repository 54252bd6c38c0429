// The services of a server and their own port, without sockets.
#include "app/services/services.hpp"

#include "chat/mcp/kept_responses.hpp"
#include "runtime/kept_answer.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using ServiceNames = std::vector<std::string>;

Settings with_services(ServiceNames only = {}) {
  Settings settings;
  settings.services.only = std::move(only);
  settings.memory.database = ":memory:";
  return settings;
}

// A server's services. The loop runs only inside until().
class OfferedServices {
 public:
  explicit OfferedServices(Settings given = with_services())
      : settings(std::move(given)),
        services(
            loop, settings, log, [this](const std::function<void(mcp::Server&)>&) { ++told; }, [this] { ++removed; }) {}
  OfferedServices(const OfferedServices&) = delete;
  OfferedServices& operator=(const OfferedServices&) = delete;
  ~OfferedServices() {
    services.stop();
    CHECK(services.end(Clock::now() + std::chrono::seconds(60)));
  }

  bool until(const std::function<bool()>& is_so) { return waiting.until(is_so); }

  WaitingLoop waiting;
  asio::io_context& loop = waiting.loop();
  spdlog::logger log{"test"};
  Settings settings;
  std::size_t told = 0;
  std::size_t removed = 0;
  Services services;
};

// Their port.
struct PortOfServices : OfferedServices {
  explicit PortOfServices(Settings given = with_services()) : OfferedServices(std::move(given)) {}

  http::Response ask(const std::string& method, const std::string& path, const std::string& body = "") {
    http::Request request;
    request.method = method;
    request.path = path;
    request.host = "localhost";
    request.body = body;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
    request.principal = port.identify(request);
    const auto exchange = std::make_shared<KeptAnswer>();
    port.handle(request, *exchange);
    REQUIRE(until([&] { return exchange->answer.has_value(); }));
    return *exchange->answer;
  }
  Json call(const std::string& method, const Json& params = Json::object()) {
    const Json request{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return Json::parse(ask("POST", "/jsonrpc", request.dump()).body);
  }

  ServicesPort port{loop,
                    settings,
                    services,
                    usual_limits<Dispatcher::Options>(),
                    [] {
                      return Json{{"status", "healthy"}};
                    },
                    [] { return std::string("metrics_there 1\n"); }};
};

}  // namespace

TEST_CASE("services run unless others are named, and models only where their server is, by the name that it has") {
  Settings settings;
  settings.server.name = "kitchen";
  const auto wanted = [&settings] {
    ServiceNames names;
    for (const char* const name : {"memory-server", "tool-server", "kitchen", "rkllm-server", ""}) {
      if (is_wanted(settings, name)) names.emplace_back(name);
    }
    return names;
  };
  CHECK(wanted().size() == 5);
  CHECK(runs_models(settings));
  settings.services.only = {"tool-server"};
  CHECK(wanted() == ServiceNames{"tool-server"});
  CHECK_FALSE(runs_models(settings));
  settings.services.only = {"rkllm-server"};
  CHECK_FALSE(runs_models(settings));
  settings.services.only = {"memory-server", "kitchen"};
  CHECK(wanted() == ServiceNames{"memory-server", "kitchen"});
  CHECK(runs_models(settings));
}

TEST_CASE("a server that does not exist is refused with those that there are") {
  asio::io_context loop;
  spdlog::logger log("test");
  for (const char* const wrong : {"memory", "", "rkllm-server", "Tool-server", "tool-server "}) {
    Settings settings = with_services({"tool-server", wrong});
    settings.server.name = "kitchen";
    CHECK_THROWS_AS(Services(loop, settings, log, {}, [] {}), std::runtime_error);
    CHECK_THROWS_WITH(Services(loop, settings, log, {}, [] {}),
                      has_text("services.only: there is no server \"" + std::string(wrong) + "\"") &&
                          has_text("here are: kitchen, memory-server, tool-server"));
  }
  CHECK_THROWS_WITH(
      Services(loop, with_services({"memory"}), log, {}, [] {}),
      "services.only: there is no server \"memory\"; did you mean \"memory-server\"? There are: rkllm-server, "
      "memory-server, tool-server");
}

TEST_CASE("all services are there with their methods, and those left out are nowhere") {
  const OfferedServices all;
  CHECK(all.services.names() == ServiceNames{"memory-server", "tool-server"});
  REQUIRE(all.services.memory_server());
  CHECK((*all.services.memory_server())->name == "memory-server");
  REQUIRE(all.services.tool_server());
  CHECK((*all.services.tool_server())->name == "tool-server");
  mcp::Catalogue catalogue;
  all.services.add_to(catalogue);
  CHECK(catalogue.services.size() == 2);
  CHECK(catalogue.tool("memory_add_message") != nullptr);

  const OfferedServices tools(with_services({"tool-server"}));
  CHECK(tools.services.names() == ServiceNames{"tool-server"});
  CHECK_FALSE(tools.services.memory_server());
  CHECK(tools.services.status() == Json::object());
  CHECK(tools.services.is_well());
  mcp::Catalogue fewer;
  tools.services.add_to(fewer);
  CHECK(fewer.services.size() == 1);
  CHECK(fewer.tool("memory_add_message") == nullptr);

  const OfferedServices none(with_services({"rkllm-server"}));
  CHECK(none.services.all().empty());
  CHECK_FALSE(none.services.tool_server());
  CHECK(none.services.is_well());
}

TEST_CASE("services are not well before the memory server can be used, and where it never can be, with the reason") {
  OfferedServices usual;
  CHECK_FALSE(usual.services.is_well());
  CHECK(usual.services.status()["memory-server"]["state"] == "unavailable");
  REQUIRE(usual.until([&] { return usual.services.is_well(); }));
  CHECK(usual.services.status()["memory-server"]["state"] == "ready");

  Settings settings = with_services();
  settings.memory.database = "/proc/no such folder/memory.db";
  OfferedServices broken(settings);
  REQUIRE(broken.until([&] {
    return broken.services.status()["memory-server"]["reason"].get<std::string>().find("no such folder") !=
           std::string::npos;
  }));
  CHECK_FALSE(broken.services.is_well());
}

TEST_CASE("the memory server gets what the settings say of it, and of the longest message and kept responses") {
  Settings settings;
  settings.memory.database = "/var/conversations.db";
  settings.memory.keep_recent_messages = 11;
  settings.memory.max_bytes = 12;
  settings.memory.retention_days = 13;
  settings.chat.responses_days = 14;
  settings.limits.max_message_bytes = 15;
  settings.memory.when_full = MemoryWhenFull::kForget;
  const memory::MemoryOptions options = memory_options(settings);
  CHECK(options.database == "/var/conversations.db");
  CHECK(options.keep_recent == 11);
  CHECK(options.most_bytes == 12);
  CHECK(options.retention_days == 13);
  CHECK(options.brief_days == 14);
  CHECK(options.brief_spaces == chat::KeptResponses::kSpaces);
  CHECK(options.answer_bytes == 15);
  CHECK(options.when_full == memory::WhenFull::kForget);
  settings.memory.when_full = MemoryWhenFull::kRefuse;
  CHECK(memory_options(settings).when_full == memory::WhenFull::kRefuse);
  settings.memory.database.clear();
  CHECK(memory_options(settings).database == memory::default_database());
}

TEST_CASE("the services' port has the services under their names, and no models and no functions") {
  PortOfServices with;
  CHECK(Json::parse(with.ask("GET", "/health").body) == Json{{"status", "healthy"}});
  CHECK(with.ask("GET", "/metrics").body == "metrics_there 1\n");
  CHECK(with.ask("GET", "/v1/models").status == 404);
  const Json servers = Json::parse(with.ask("GET", "/servers").body);
  CHECK_THAT(servers.dump(), has_text("memory-server") && has_text("tool-server"));
  CHECK(servers.dump().find(with.settings.server.name) == std::string::npos);

  REQUIRE(with.until([&] { return with.services.is_well(); }));
  const Json message{{"conversation_id", "c"}, {"role", "user"}, {"content", "x"}};
  CHECK(with.call("memory-server/memory/add_message", message).contains("result"));
  CHECK(with.call("rkllm_run")["error"]["code"] == -32601);
  CHECK(with.call(with.settings.server.name + "/rkllm_run")["error"]["code"] == -32601);
  CHECK(with.call("rkllm_init", {{"param", {{"model_path", "/x.rkllm"}}}})["error"]["code"] == -32601);
}

TEST_CASE("whoever is to hear of them is told on the loop what happens to conversations, and of deletions apart") {
  PortOfServices with;
  REQUIRE(with.until([&] { return with.services.is_well(); }));
  CHECK(with.told == 0);
  with.call("memory-server/memory/add_message", {{"conversation_id", "c"}, {"role", "user"}, {"content", "x"}});
  CHECK(with.until([&] { return with.told >= 2; }));  // the conversation, and the list
  CHECK(with.removed == 0);
  with.call("memory-server/memory/clear", {{"conversation_id", "c"}});
  CHECK(with.until([&] { return with.removed == 1; }));
}

TEST_CASE("services that have been stopped take nothing more, and come to their end") {
  PortOfServices with;
  REQUIRE(with.until([&] { return with.services.is_well(); }));
  with.services.stop();
  const Json refused =
      with.call("memory-server/memory/add_message", {{"conversation_id", "c"}, {"role", "user"}, {"content", "x"}});
  CHECK(refused.contains("error"));
  CHECK(with.services.end(Clock::now() + std::chrono::seconds(60)));
  with.services.stop();  // again, which is nothing
}
