// The tool server in the real program: on every transport, and beside a model that generates.
#include "client/mcp/mcp_client.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/web_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;
namespace client = rkllm_mcp::client;

namespace {

std::string request(int id, const std::string& method, const Json& params) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

Json receive(Connection& connection) {
  const auto message = connection.receive(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  if (!message) throw std::runtime_error("no message");
  return Json::parse(*message);
}

}  // namespace

TEST_CASE("the tool server answers in the direct dialect on every transport") {
  LiveServer server(LiveServer::with_stdio());
  for (const Transport transport : kAllTransports) {
    INFO(name_of(transport));
    const auto connection = server.connect(transport);
    connection->send(request(1, "tool-server/tools/list", Json::object()));
    CHECK(receive(*connection)["result"]["tools"].size() == 6);
    const Json call{{"name", "calculate"}, {"arguments", {{"expression", "2^10"}}}};
    connection->send(request(2, "tool-server/tools/call", call));
    const Json answer = receive(*connection);
    CHECK(answer["id"] == 2);
    CHECK(answer["result"]["content"][0]["text"] == "1024");
    connection->send(
        request(3, "tool-server/tools/call", {{"name", "calculate"}, {"arguments", {{"expression", ""}}}}));
    CHECK(receive(*connection)["error"]["code"] == -32602);
    connection->send(
        request(4, "tool-server/tools/call", {{"name", "google_search"}, {"arguments", {{"query", "x"}}}}));
    CHECK(receive(*connection)["error"]["code"] == -32002);
    connection->send(request(5, "tool-server/tools/call", {{"name", "calculat"}}));
    CHECK(receive(*connection)["error"]["code"] == -32602);
    connection->send(request(6, "tool-server/tools/cal", Json::object()));
    CHECK(receive(*connection)["error"]["code"] == -32601);
  }
}

TEST_CASE("the tools are those of the whole server in both eras of the protocol") {
  LiveServer server;
  for (const auto era : {client::EraChoice::kLegacy, client::EraChoice::kModern}) {
    for (const Transport transport : {Transport::kTcp, Transport::kHttp, Transport::kWebSocket}) {
      INFO(name_of(transport));
      const auto endpoint = server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : "");
      const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      client::McpClient mcp(client::connect_mcp(endpoint, soon),
                            {.era = era, .client_info = {{"name", "test"}, {"version", "1"}}});
      const auto tools = mcp.list(client::McpClient::List::kTools, 1000, std::chrono::seconds(60));
      for (const char* const name : {"calculate", "duckduckgo_search", "fetch_page"}) {
        CHECK(std::ranges::any_of(tools, [&](const Json& tool) { return tool["name"] == name; }));
      }
      const auto call = [&](const std::string& tool, const Json& arguments) {
        return mcp.call("tools/call", {{"name", tool}, {"arguments", arguments}}, std::chrono::seconds(60));
      };
      const Json sum = call("calculate", {{"expression", "0.1+0.2"}});
      CHECK(sum["structuredContent"]["result"] == "0.3");
      const Json refused = call("fetch_page", {{"url", "http://127.0.0.1/"}});
      CHECK(refused["isError"] == true);
      CHECK_THAT(refused["content"][0]["text"].get<std::string>(), has_text("loopback"));
    }
  }
}

TEST_CASE("health, servers and capabilities show the tool server") {
  LiveServer server;
  HttpClient http(server.endpoint(Transport::kHttp));
  CHECK(std::ranges::count(http.get("/health").json()["servers"], "tool-server") == 1);
  const Json servers = http.get("/servers").json()["servers"];
  const auto own = std::ranges::find_if(servers, [](const Json& each) { return each["name"] == "tool-server"; });
  REQUIRE(own != servers.end());
  const Json& capabilities = (*own)["capabilities"];
  CHECK(capabilities["resources"] == Json::array());
  CHECK(capabilities["prompts"] == Json::array());
  std::vector<std::string> names;
  for (const Json& tool : capabilities["tools"]) names.push_back(tool["name"]);
  CHECK(names == std::vector<std::string>{"calculate", "current_time", "duckduckgo_search", "fetch_page",
                                          "google_search", "searxng_search"});
  CHECK(http.get("/servers/tool-server/capabilities").json() ==
        Json{{"server_name", "tool-server"}, {"capabilities", capabilities}});
  CHECK(http.get("/servers/tool/capabilities").status == 404);
  const auto null_id = http.post(
      "/jsonrpc",
      R"({"jsonrpc":"2.0","id":null,"method":"tool-server/tools/call","params":{"name":"calculate","arguments":{"expression":"1"}}})");
  CHECK(null_id.status == 200);
  CHECK(null_id.json()["id"].is_null());
  CHECK(null_id.json()["result"]["content"][0]["text"] == "1");
}

TEST_CASE("a search that waits holds up no model that generates") {
  std::promise<void> go;
  const auto gone = go.get_future().share();
  WebServer web([gone](const std::string&, WebServer::Socket& socket) {
    gone.wait();
    WebServer::send(socket, web_answer("<p>late"));
  });
  LiveServer server(LiveServer::Options{.set = {"tools.allowed_addresses=127.0.0.1"}});
  const auto connection = server.connect(Transport::kTcp);
  connection->send(request(1, "rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}}));
  CHECK(receive(*connection)["result"]["status"] == 0);
  connection->send(request(2, "tool-server/tools/call", {{"name", "fetch_page"}, {"arguments", {{"url", web.url()}}}}));
  web.await_requests(1);
  connection->send(request(3, "rkllm_run_async", {{"rkllm_input", {{"prompt_input", "@n=200 Hello"}}}}));
  // Every token comes, and the end, before the page does.
  for (;;) {
    const Json message = receive(*connection);
    REQUIRE(message["id"] == 3);
    if (message["result"]["chunk"].contains("end")) break;
  }
  go.set_value();
  const Json late = receive(*connection);
  CHECK(late["id"] == 2);
  CHECK(late["result"]["structuredContent"]["text"] == "late");
}

TEST_CASE("a server that ends while a tool waits ends in time, and says so to the client") {
  WebServer web([](const std::string&, WebServer::Socket& socket) { WebServer::await_end(socket); });
  LiveServer server(LiveServer::Options{.set = {"tools.allowed_addresses=127.0.0.1"}});
  const auto connection = server.connect(Transport::kTcp);
  connection->send(request(1, "tool-server/tools/call", {{"name", "fetch_page"}, {"arguments", {{"url", web.url()}}}}));
  web.await_requests(1);
  server.process().signal(SIGTERM);
  CHECK(receive(*connection)["error"]["message"] == "the server is ending");
  CHECK(server.process().wait() == 0);
}

TEST_CASE("the tool server runs alone, or not at all") {
  LiveServer::Options options;
  options.runtime = {"--only", "tool-server"};
  options.set = {"services.port=0", "tcp.enabled=true", "http.enabled=true"};
  LiveServer alone(options);
  const auto connection = alone.connect(Transport::kTcp);
  connection->send(
      request(1, "tool-server/tools/call", {{"name", "calculate"}, {"arguments", {{"expression", "1+1"}}}}));
  CHECK(receive(*connection)["result"]["content"][0]["text"] == "2");
  connection->send(request(2, "memory-server/memory/get_or_create", Json::object()));
  CHECK(receive(*connection)["error"]["code"] == -32601);
  const auto port = alone.health()["transports"]["services"]["port"].get<std::uint16_t>();
  HttpClient own({client::Protocol::kHttp, "127.0.0.1", port, "/"});
  CHECK(own.get("/health").json()["servers"] == Json::array({"tool-server"}));

  options.runtime = {"--only", "memory-server"};
  options.set.push_back("memory.database=:memory:");
  LiveServer without(options);
  const auto other = without.connect(Transport::kTcp);
  other->send(request(1, "tool-server/tools/list", Json::object()));
  CHECK(receive(*other)["error"]["code"] == -32601);
}

namespace {

// Hosts pass schemas on to models' services, some of which refuse those without.
void check_types(const Json& schema, const std::string& path) {
  INFO(path);
  if (schema.is_array()) {
    for (std::size_t at = 0; at < schema.size(); ++at) check_types(schema[at], path + "[" + std::to_string(at) + "]");
  }
  if (!schema.is_object()) return;
  if (schema.contains("enum") || schema.contains("const")) CHECK(schema.contains("type"));
  if (schema.contains("type") && schema["type"] == "array") CHECK(schema.contains("items"));
  CHECK_FALSE(schema.contains("if"));
  CHECK_FALSE((schema.contains("type") && schema["type"].is_array()));
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, part] : properties.items()) {
    INFO(name);
    CHECK((part.contains("type") || part.contains("anyOf")));
  }
  for (const auto& [name, part] : schema.items()) {
    if (name == "default" || name == "enum" || name == "const" || name == "examples") continue;
    check_types(part, path + "." + name);
  }
}

}  // namespace

TEST_CASE("every tool that is served has a schema that all hosts take") {
  LiveServer::Options options;
  options.set = {R"(mcp.tools=["chat","tools","api","memory"])"};
  LiveServer server(options);
  const auto soon = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  client::McpClient mcp(client::connect_mcp(server.endpoint(Transport::kTcp), soon),
                        {.client_info = {{"name", "test"}, {"version", "1"}}});
  const auto tools = mcp.list(client::McpClient::List::kTools, 1000, std::chrono::seconds(60));
  constexpr std::size_t kOfCAlone = 30;
  CHECK(tools.size() > kOfCAlone);
  for (const Json& tool : tools) {
    const auto name = tool["name"].get<std::string>();
    check_types(tool["inputSchema"], name + ".inputSchema");
    if (tool.contains("outputSchema")) check_types(tool["outputSchema"], name + ".outputSchema");
  }
}
