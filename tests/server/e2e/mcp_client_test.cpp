// The MCP client against the real server, over every transport, also where datagrams get lost.
#include "client/mcp/mcp_client.hpp"

#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/live_server.hpp"
#include "support/lossy_proxy.hpp"

#include <signal.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using client::EraChoice;
using client::McpClient;
using client::Outcome;
using client::RemoteError;
using namespace std::chrono_literals;

constexpr std::array kClientTransports{Transport::kTcp, Transport::kUnix, Transport::kUdp, Transport::kHttp,
                                       Transport::kWebSocket};
constexpr auto kAnswerPatience = 60s;

client::Endpoint mcp_endpoint(const LiveServer& server, Transport transport) {
  return server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : "");
}

McpClient mcp_client(const client::Endpoint& endpoint, EraChoice era = EraChoice::kAuto,
                     McpClient::Events events = {}) {
  return {client::connect_mcp(endpoint, std::chrono::steady_clock::now() + Process::kPatience),
          {.era = era, .client_info = {{"name", "test"}, {"version", "1"}}},
          std::move(events)};
}

Json tool(McpClient& client, const std::string& name, const Json& arguments) {
  const Json result = client.call("tools/call", {{"name", name}, {"arguments", arguments}}, kAnswerPatience);
  if (result.value("isError", false)) throw std::runtime_error(result.dump());
  return result["structuredContent"];
}

// A generation under way.
class Generation {
 public:
  Generation(McpClient& client, const std::string& handle, const std::string& prompt)
      : id_(client.request(
            "tools/call",
            {{"name", "rkllm_run"},
             {"arguments",
              {{"handle", handle}, {"rkllm_input", {{"prompt_input", prompt}}}, {"progress_message", "delta"}}}},
            {.on_progress =
                 [this](const Json& params) {
                   if (updates_++ == 2) third_.set_value();
                   if (updates_ > 1) text_ += params.value("message", "");
                 },
             .on_end = [this](Outcome outcome) { end_.set_value(std::move(outcome)); }})) {}

  McpClient::Id id() const { return id_; }
  void await_progress() {
    if (third_.get_future().wait_for(kAnswerPatience) != std::future_status::ready) {
      throw std::runtime_error("no progress");
    }
  }
  bool has_ended() { return end_future_.wait_for(0s) == std::future_status::ready; }
  Outcome outcome() {
    if (end_future_.wait_for(kAnswerPatience) != std::future_status::ready) throw std::runtime_error("no end");
    return end_future_.get();
  }
  const std::string& text() const { return text_; }  // after outcome()

 private:
  int updates_ = 0;
  std::string text_;
  std::promise<void> third_;
  std::promise<Outcome> end_;
  std::future<Outcome> end_future_ = end_.get_future();
  McpClient::Id id_;  // last: callbacks may come at once
};

}  // namespace

TEST_CASE("mcp client: finds the era by itself, lists all tools, and gets progress and results, over every transport") {
  LiveServer server;
  for (const Transport transport : kClientTransports) {
    for (const EraChoice era : {EraChoice::kAuto, EraChoice::kLegacy}) {
      INFO(name_of(transport) << (era == EraChoice::kAuto ? ", auto" : ", legacy"));
      McpClient client = mcp_client(mcp_endpoint(server, transport), era);
      CHECK(client.server().info["name"] == "rkllm-server");
      CHECK(client.server().revision == (era == EraChoice::kAuto ? "2026-07-28" : "2025-11-25"));
      std::set<std::string> names;
      for (const Json& each : client.list(McpClient::List::kTools, 1000, kAnswerPatience))
        names.insert(each["name"].get<std::string>());
      CHECK(names.contains("rkllm_run"));
      CHECK(names.size() >= 14);
      CHECK(client.list(McpClient::List::kResources, 1000, kAnswerPatience).size() >= 1);
      CHECK(client.list(McpClient::List::kResourceTemplates, 1000, kAnswerPatience).size() >= 1);

      const Json handle = tool(client, "rkllm_init", {{"param", {{"model_path", server.paced_model(200)}}}})["handle"];
      Generation generation(client, handle.get<std::string>(), "@n=40");
      const Outcome outcome = generation.outcome();
      REQUIRE(std::holds_alternative<Json>(outcome));
      const Json& result = std::get<Json>(outcome);
      const std::string text = result["structuredContent"]["text"].get<std::string>();
      CHECK(text == server.recorded_runs().back().text);
      if (transport == Transport::kUdp) {
        CHECK_FALSE(generation.text().empty());
      } else {
        CHECK(generation.text() == text);
      }
      tool(client, "rkllm_destroy", {{"handle", handle}});
    }
  }
}

TEST_CASE("mcp client: cancelling ends the run, and the client goes on, over every transport") {
  LiveServer server;
  for (const Transport transport : kClientTransports) {
    for (const EraChoice era : {EraChoice::kAuto, EraChoice::kLegacy}) {
      INFO(name_of(transport) << (era == EraChoice::kAuto ? ", auto" : ", legacy"));
      McpClient client = mcp_client(mcp_endpoint(server, transport), era);
      const Json handle = tool(client, "rkllm_init", {{"param", {{"model_path", server.paced_model(200)}}}})["handle"];
      Generation generation(client, handle.get<std::string>(), kEndless);
      generation.await_progress();
      client.cancel(generation.id(), "enough");
      tool(client, "rkllm_get_kv_cache_size", {{"handle", handle}});  // waits behind the run
      CHECK_FALSE(generation.has_ended());
      tool(client, "rkllm_destroy", {{"handle", handle}});
      const auto runs = server.recorded_runs();
      REQUIRE_FALSE(runs.empty());
      CHECK(runs.back().aborted);
    }
  }
}

TEST_CASE("mcp client: a server that dies ends every request with a reason, over every transport") {
  for (const Transport transport : kClientTransports) {
    INFO(name_of(transport));
    LiveServer server;
    std::promise<std::string> lost;
    auto reason = lost.get_future();
    McpClient client = mcp_client(mcp_endpoint(server, transport), EraChoice::kAuto,
                                  {.on_lost = [&lost](const std::string& why) { lost.set_value(why); }});
    const Json handle = tool(client, "rkllm_init", {{"param", {{"model_path", server.paced_model(200)}}}})["handle"];
    Generation generation(client, handle.get<std::string>(), kEndless);
    generation.await_progress();
    server.process().signal(SIGKILL);
    const Outcome outcome = generation.outcome();
    REQUIRE(std::holds_alternative<RemoteError>(outcome));
    CHECK(std::get<RemoteError>(outcome).code == -32603);
    REQUIRE(reason.wait_for(kAnswerPatience) == std::future_status::ready);
    CHECK_THROWS_AS(client.call("tools/list", Json::object(), kAnswerPatience), client::ConnectionError);
  }
}

TEST_CASE("mcp client: destroying it in the middle of a call takes no time, over every transport") {
  LiveServer server;
  for (const Transport transport : kClientTransports) {
    INFO(name_of(transport));
    std::chrono::steady_clock::time_point began;
    std::string handle;
    std::unique_ptr<Generation> abandoned;  // outlives the client, whose callbacks it gets
    {
      McpClient client = mcp_client(mcp_endpoint(server, transport));
      handle = tool(client, "rkllm_init", {{"param", {{"model_path", server.paced_model(200)}}}})["handle"];
      abandoned = std::make_unique<Generation>(client, handle, kEndless);
      abandoned->await_progress();
      began = std::chrono::steady_clock::now();
    }
    CHECK(std::chrono::steady_clock::now() - began < 10s);
    McpClient other = mcp_client(mcp_endpoint(server, Transport::kTcp));
    tool(other, "rkllm_destroy", {{"handle", handle}});
  }
}

TEST_CASE("mcp client: every request is answered, and executed once, where datagrams get lost, doubled and late") {
  LiveServer server;
  LossyProxy proxy(server.port(Transport::kUdp), 7, {.lost = 25, .doubled = 20, .late = 20});
  client::Endpoint endpoint = mcp_endpoint(server, Transport::kUdp);
  endpoint.port = proxy.port();
  McpClient client = mcp_client(endpoint);
  CHECK(client.list(McpClient::List::kTools, 1000, kAnswerPatience).size() >= 14);
  const Json handle = tool(client, "rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}})["handle"];
  constexpr int kRuns = 8;
  for (int run = 0; run < kRuns; ++run) {
    const Json result =
        tool(client, "rkllm_run",
             {{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=5 @seed=" + std::to_string(run)}}}});
    CHECK(result["status"] == 0);
  }
  CHECK(server.recorded_runs().size() == kRuns);
  CHECK(proxy.to_server().lost + proxy.to_client().lost > 0);
}

TEST_CASE("mcp client: many requests from many threads are all answered, over every transport") {
  LiveServer server;
  for (const Transport transport : kClientTransports) {
    INFO(name_of(transport));
    McpClient client = mcp_client(mcp_endpoint(server, transport));
    std::vector<std::future<int>> all;
    for (int thread = 0; thread < 4; ++thread) {
      all.push_back(std::async(std::launch::async, [&client] {
        int answered = 0;
        for (int i = 0; i < 20; ++i)
          answered += tool(client, "rkllm_createDefaultParam", Json::object()).is_object() ? 1 : 0;
        return answered;
      }));
    }
    for (auto& each : all) CHECK(each.get() == 20);
  }
}

TEST_CASE("mcp client: https is spoken with a server that the CA file vouches for") {
  TemporaryDirectory directory;
  const CertificateFiles files = make_certificate(directory.path());
  LiveServer server({.set = {"http.tls=true", "tls.certificate=" + files.certificate, "tls.key=" + files.key}});
  client::Endpoint endpoint = mcp_endpoint(server, Transport::kHttp);
  endpoint.protocol = client::Protocol::kHttps;
  endpoint.host = "localhost";
  CHECK_THROWS_AS(mcp_client(endpoint), client::ConnectionError);
  endpoint.ca_file = files.certificate;
  McpClient client = mcp_client(endpoint);
  CHECK(client.list(McpClient::List::kTools, 1000, kAnswerPatience).size() >= 14);
}

}  // namespace rkllm_mcp::test
