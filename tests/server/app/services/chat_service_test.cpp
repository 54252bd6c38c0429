// The chat host with its settings: what it is made of stands beside that, in tests/server/chat.
#include "app/services/chat_service.hpp"

#include "mcp/service.hpp"
#include "runtime/kept_answer.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "support/process.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

struct NoStore final : chat::ModelStore {
  std::unique_ptr<chat::QueuePlace> pull(const std::string&, chat::PullListener) override { return nullptr; }
  void remove(const std::vector<std::string>&, std::function<void(std::optional<chat::TurnError>)>) override {}
};

// A chat host with one model, whose profiles are in a folder of its own. The loop runs only inside settle().
struct ServedChat {
  ServedChat() {
    settings.chat.profiles_dir = profiles.path();
    settings.chat.cache_bytes = 0;
  }
  ServedChat(const ServedChat&) = delete;
  ServedChat& operator=(const ServedChat&) = delete;
  ~ServedChat() {
    if (!chat) return;
    chat->stop();
    settle();
    CHECK(chat->end(Clock::now() + std::chrono::seconds(60)));
  }

  ChatService& start() {
    chat.emplace(loop, settings, gate, lender, store, log, MemoryBudget(), chat::ChatTools::Options(),
                 std::vector<Immutable<mcp::Service>>());
    settle();
    return *chat;
  }
  void settle() {
    do {
      loop.restart();
      loop.poll();
    } while (lender.step());
  }
  void write_profile(const std::string& name, const std::string& text) {
    write_file(profiles / (name + ".json"), text);
  }
  std::vector<std::string> prompts() {
    std::vector<std::string> names;
    for (const auto& prompt : chat->service()->prompts) names.push_back(prompt->name);
    return names;
  }
  std::string logged() { return std::exchange(lines, std::ostringstream()).str(); }
  // Null: the request is not for the chat host.
  std::shared_ptr<KeptAnswer> begin(const std::string& method, const std::string& path, const std::string& body) {
    http::Request request;
    request.method = method;
    request.path = path;
    request.host = "localhost";
    request.body = body;
    request.headers = {{"Content-Type", "application/json"}};
    request.principal = gate.identify("");
    auto exchange = std::make_shared<KeptAnswer>();
    if (!chat::ChatRoutes::serves(request)) return nullptr;
    chat->routes().handle(request, *exchange);
    return exchange;
  }
  std::optional<http::Response> ask(const std::string& method, const std::string& path, const std::string& body = "") {
    const auto exchange = begin(method, path, body);
    if (!exchange) return std::nullopt;
    settle();
    REQUIRE(exchange->answer);
    return exchange->answer;
  }

  const TemporaryDirectory profiles;
  asio::io_context loop;
  std::ostringstream lines;
  spdlog::logger log{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(lines)};
  Settings settings;
  Gate gate{loop, AccessTokens()};
  chat::testing::ScriptedLender lender;
  NoStore store;
  std::optional<ChatService> chat;
};

constexpr const char* kChatPath = "/v1/chat/completions";
constexpr const char* kQuestion = R"({"model":"qwen3-0.6b","messages":[{"role":"user","content":"Hi"}]})";
const std::string kHelper = R"({"prompts":{"en":{"answer":["{question}","Answer:"]}}})";

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("requests for the chat host are answered, and all others left to whoever else there is") {
  ServedChat served;
  served.start();
  for (const char* const path : {"/mcp", "/jsonrpc", "/health", "/", "/metrics"}) {
    INFO(path);
    CHECK_FALSE(served.ask("POST", path, "{}"));
  }
  const auto models = served.ask("GET", "/v1/models");
  REQUIRE(models);
  CHECK(models->status == 200);
  CHECK(has(models->body, "qwen3-0.6b"));
}

TEST_CASE("what the chat host has under way is told, and nothing of it is left once it has ended") {
  ServedChat served;
  served.lender.model.answers = {{"Hi"}};
  served.start();
  const Json idle{{"turns", 0}, {"requests", 0}, {"prompt_caches", {{"files", 0}, {"bytes", 0}}}};
  CHECK(served.chat->status() == idle);
  const auto exchange = served.begin("POST", kChatPath, kQuestion);
  REQUIRE(exchange);
  CHECK(served.chat->status()["requests"] == 1);
  served.settle();
  REQUIRE(exchange->answer);
  CHECK(exchange->answer->status == 200);
  CHECK(served.chat->status() == idle);
}

TEST_CASE("who waits for an answer when the chat host stops is told so, and nothing is kept waiting") {
  ServedChat served;
  served.start();
  const auto exchange = served.begin("POST", kChatPath, kQuestion);
  REQUIRE(exchange);
  served.chat->stop();
  served.settle();
  REQUIRE(exchange->answer);
  CHECK(exchange->answer->status >= 500);
  CHECK_FALSE(served.chat->is_keeping());
  CHECK(served.chat->end(Clock::now()));
  CHECK(served.chat->status()["requests"] == 0);
}

TEST_CASE("profiles are there from the beginning, and are read again when their files have changed") {
  ServedChat served;
  CHECK_FALSE(served.start().read_profiles());
  CHECK(served.prompts().empty());
  served.write_profile("helper", kHelper);
  const Immutable<mcp::Service> before = served.chat->service();
  CHECK(served.chat->read_profiles());
  CHECK_FALSE(served.prompts().empty());
  CHECK(before->prompts.empty());  // who has it keeps what it had
  CHECK(has(served.ask("GET", "/v1/models")->body, "helper"));
  std::filesystem::remove(served.profiles / "helper.json");
  CHECK(served.chat->read_profiles());  // there were some
  CHECK(served.prompts().empty());
  CHECK_FALSE(served.chat->read_profiles());
  CHECK_FALSE(has(served.ask("GET", "/v1/models")->body, "helper"));

  ServedChat another;
  another.write_profile("helper", kHelper);
  another.start();
  CHECK_FALSE(another.prompts().empty());
}

TEST_CASE("a profile that cannot be used is told of in the log by its file, and the others are there") {
  ServedChat served;
  served.write_profile("helper", kHelper);
  served.write_profile("wrong", "{");
  served.write_profile("nowhere", R"({"provider":"nobody","prompts":{"en":{"answer":"{question}"}}})");
  served.start();
  const std::string told = served.logged();
  CHECK(has(told, "wrong.json"));
  CHECK(has(told, "nowhere.json"));
  CHECK_FALSE(has(told, "helper.json"));
  CHECK_FALSE(served.prompts().empty());
}

TEST_CASE("a guardrail's model that there is not is told of, unless there are no profiles or it is a path") {
  const auto told = [](const std::string& model, bool has_profiles) {
    ServedChat served;
    served.settings.chat.guardrail_model = model;
    if (has_profiles) served.write_profile("helper", kHelper);
    served.start();
    return has(served.logged(), "chat.guardrail_model");
  };
  CHECK(told("absent", true));
  CHECK_FALSE(told("absent", false));
  CHECK_FALSE(told("qwen3-0.6b", true));
  CHECK_FALSE(told("/models/absent.rkllm", true));
  CHECK_FALSE(told("", true));
}

TEST_CASE("a look for the guardrail's model that comes back when the chat host has gone says nothing") {
  ServedChat served;
  served.settings.chat.guardrail_model = "absent";
  served.write_profile("helper", kHelper);
  served.chat.emplace(served.loop, served.settings, served.gate, served.lender, served.store, served.log,
                      MemoryBudget(), chat::ChatTools::Options(), std::vector<Immutable<mcp::Service>>());
  REQUIRE_FALSE(served.lender.actions.empty());
  served.chat.reset();
  served.settle();
  CHECK_FALSE(has(served.logged(), "chat.guardrail_model"));
}

TEST_CASE("servers elsewhere are used at the address in the environment, and one that is no address is refused by it") {
  {
    const Environment address("MCP_SERVER_URL", "ftp://nowhere");
    ServedChat served;
    CHECK_THROWS_WITH(served.start(), Catch::Matchers::StartsWith("MCP_SERVER_URL: "));
    CHECK_THROWS_AS(served.start(), std::runtime_error);
  }
  {
    const Environment address("MCP_SERVER_URL", "http://127.0.0.1:9/mcp");
    ServedChat served;
    served.start();
    CHECK(has(served.logged(), "http://127.0.0.1:9/mcp"));
  }
  const Environment address("MCP_SERVER_URL", "");
  ServedChat served;
  served.start();
  CHECK_FALSE(has(served.logged(), "MCP_SERVER_URL"));
}

TEST_CASE("the first token of a turn is told with its model and how long it took") {
  ServedChat served;
  served.lender.model.answers = {{"Hi"}};
  served.start();
  std::vector<double> told;
  served.chat->when_first_token([&told](const std::string& /*handle*/, double seconds) { told.push_back(seconds); });
  served.ask("POST", kChatPath, kQuestion);
  REQUIRE(told.size() == 1);
  CHECK(told[0] >= 0);
}

TEST_CASE("each request of the chat host has a line in the log, with its path and how it ended") {
  ServedChat served;
  served.lender.model.answers = {{"Hi"}};
  served.start();
  served.logged();
  served.ask("POST", kChatPath, R"({"model":"nobody","messages":[{"role":"user","content":"Hi"}]})");
  const std::string told = served.logged();
  CHECK(has(told, kChatPath));
  CHECK(has(told, "404"));
}
