#include "client/mcp/mcp_client.hpp"
#include "jsonrpc/unread.hpp"

#include "runtime/client/scripted_connection.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <future>
#include <limits>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Json;
using rkllm_mcp::test::Script;
using rkllm_mcp::test::ScriptedConnection;
using namespace std::chrono_literals;

namespace {

constexpr auto kPatience = 60s;
const Json kClient = {{"name", "test"}, {"version", "1"}};
const std::string kRevisionKey = "io.modelcontextprotocol/protocolVersion";

std::string method_of(const Json& message) { return message.value("method", ""); }

void answer_initialize(Script& script, const Json& message) {
  script.result(message, {{"protocolVersion", "2025-06-18"},
                          {"capabilities", {{"tools", Json::object()}}},
                          {"serverInfo", {{"name", "legacy"}, {"version", "1"}}},
                          {"instructions", "be nice"}});
}

void answer_discover(Script& script, const Json& message) {
  script.result(message, {{"supportedVersions", {"2026-07-28"}},
                          {"capabilities", {{"tools", Json::object()}}},
                          {"instructions", "be modern"},
                          {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "modern"}, {"version", "1"}}}}}});
}

// Knows the handshake, and nothing of server/discover.
void legacy_server(Script& script, const Json& message) {
  if (method_of(message) == "initialize") return answer_initialize(script, message);
  if (method_of(message) == "server/discover") return script.error(message, -32601);
}

void modern_server(Script& script, const Json& message) {
  if (method_of(message) == "server/discover") return answer_discover(script, message);
}

McpClient client_of(Script& script, EraChoice era = EraChoice::kAuto, McpClient::Events events = {}) {
  return {std::make_unique<ScriptedConnection>(script),
          {.era = era, .client_info = kClient, .probe_patience = 100ms},
          std::move(events)};
}

// Callbacks that keep what comes, and the end as a future.
struct Waiting {
  std::promise<Outcome> promise{};
  std::future<Outcome> end = promise.get_future();
  std::vector<double> progress{};

  NumberedRequests::Callbacks callbacks() {
    return {.on_progress = [this](const Json& params) { progress.push_back(params["progress"].get<double>()); },
            .on_end = [this](Outcome outcome) { promise.set_value(std::move(outcome)); }};
  }
  Outcome outcome() {
    if (end.wait_for(kPatience) != std::future_status::ready) throw std::runtime_error("no end");
    return end.get();
  }
};

}  // namespace

TEST_CASE("parts of a long message that nobody has read are sent as they were written") {
  Script script(modern_server);
  McpClient client = client_of(script, EraChoice::kModern);
  const auto sent = script.sent().size();
  client.request("tools/call", {{"name", "t"}, {"arguments", {{"values", rkllm_mcp::unread_part("[1.0, 2]")}}}},
                 {.on_end = [](const Outcome&) {}});
  CHECK_THAT(script.sent(sent + 1).back(), rkllm_mcp::test::has_text(R"("arguments":{"values":[1.0, 2]})"));
}

TEST_CASE("a modern server is discovered, every request carries its metadata, and no handshake is made") {
  Script script(modern_server);
  McpClient client = client_of(script);
  CHECK_FALSE(client.server().has_handshake);
  CHECK(client.server().revision == "2026-07-28");
  CHECK(client.server().info["name"] == "modern");
  CHECK(client.server().instructions == "be modern");
  Waiting waiting;
  client.request("tools/call", {{"name", "x"}, {"_meta", {{"traceparent", "00"}}}}, waiting.callbacks());
  const auto sent = script.sent(2);
  CHECK(sent.size() == 2);
  for (const std::string& text : sent) {
    const Json meta = Json::parse(text)["params"]["_meta"];
    CHECK(meta[kRevisionKey] == "2026-07-28");
    CHECK(meta["io.modelcontextprotocol/clientInfo"] == kClient);
    CHECK(meta["io.modelcontextprotocol/clientCapabilities"] == Json::object());
  }
  CHECK(Json::parse(sent[1])["params"]["_meta"]["traceparent"] == "00");
  CHECK(Json::parse(sent[1])["params"]["_meta"]["progressToken"] == Json::parse(sent[1])["id"]);
}

TEST_CASE("a legacy server is initialized, after it has not known server/discover") {
  Script script(legacy_server);
  const McpClient client = client_of(script);
  CHECK(client.server().has_handshake);
  CHECK(client.server().revision == "2025-06-18");
  CHECK(client.server().info["name"] == "legacy");
  CHECK(client.server().instructions == "be nice");
  const auto sent = script.sent(3);
  CHECK(Json::parse(sent[1])["params"]["protocolVersion"] == "2025-11-25");
  CHECK(method_of(Json::parse(sent[2])) == "notifications/initialized");
}

TEST_CASE("the answers of servers that do not know the modern era lead to initialize, whatever they are") {
  struct Refusal {
    int code;
    Json data;
  };
  for (const Refusal& refusal : {Refusal{-32601, nullptr}, Refusal{-32602, nullptr}, Refusal{-32600, nullptr},
                                 Refusal{-32000, nullptr}, Refusal{-32022, {{"supported", {"2030-01-01"}}}},
                                 Refusal{-32603, {{"status", 400}}}, Refusal{-32603, {{"status", 404}}}}) {
    INFO(refusal.code << " " << refusal.data);
    Script script([&refusal](Script& self, const Json& message) {
      if (method_of(message) == "initialize") return answer_initialize(self, message);
      if (method_of(message) == "server/discover") self.error(message, refusal.code, refusal.data);
    });
    CHECK(client_of(script).server().has_handshake);
  }
}

TEST_CASE("silence after server/discover leads to initialize, and its late answer is passed over") {
  Script script([](Script& self, const Json& message) {
    if (method_of(message) == "initialize") {
      self.result({{"id", 1}}, {{"supportedVersions", {"2026-07-28"}}});
      answer_initialize(self, message);
    }
  });
  CHECK(client_of(script).server().has_handshake);
}

TEST_CASE("other errors are no sign of a legacy server") {
  for (const int code : {-32603, -32020, -32021, 4007}) {
    Script script([code](Script& self, const Json& message) { self.error(message, code); });
    CHECK_THROWS_AS(client_of(script), RemoteRefusal);
    CHECK(script.count_of("initialize") == 0);
  }
}

TEST_CASE("a fixed era is neither probed for nor fallen back from") {
  Script legacy(legacy_server);
  CHECK(client_of(legacy, EraChoice::kLegacy).server().has_handshake);
  CHECK(legacy.count_of("server/discover") == 0);
  Script other(legacy_server);
  CHECK_THROWS_AS(client_of(other, EraChoice::kModern), RemoteRefusal);
  CHECK(other.count_of("initialize") == 0);
}

TEST_CASE("a server that wants an unknown revision is not spoken with") {
  Script script([](Script& self, const Json& message) { self.result(message, {{"protocolVersion", "2040-01-01"}}); });
  CHECK_THROWS_WITH(client_of(script, EraChoice::kLegacy), rkllm_mcp::test::has_text("2040-01-01"));
}

TEST_CASE("a list comes whole, page by page, an empty cursor is one") {
  Script script([](Script& self, const Json& message) {
    if (method_of(message) != "tools/list") return legacy_server(self, message);
    const Json& params = message["params"];
    if (!params.contains("cursor")) return self.result(message, {{"tools", {{{"name", "a"}}}}, {"nextCursor", ""}});
    if (params["cursor"] == "") return self.result(message, {{"tools", {{{"name", "b"}}}}, {"nextCursor", "c"}});
    self.result(message, {{"tools", Json::array()}});
  });
  McpClient client = client_of(script);
  const auto tools = client.list(McpClient::List::kTools, 100, kPatience);
  CHECK(Json(tools) == Json::parse(R"([{"name":"a"},{"name":"b"}])"));
  CHECK(client.list(McpClient::List::kPrompts, 100, kPatience).empty());
  CHECK(script.count_of("prompts/list") == 0);
}

TEST_CASE("a list is read as far as it is wanted") {
  Script script([](Script& self, const Json& message) {
    if (method_of(message) != "tools/list") return legacy_server(self, message);
    const int page = message["params"].value("cursor", 0);
    self.result(message, {{"tools", {page, page, page}}, {"nextCursor", page + 1}});
  });
  McpClient client = client_of(script);
  CHECK(Json(client.list(McpClient::List::kTools, 7, kPatience)) == Json{0, 0, 0, 1, 1, 1, 2});
  CHECK(script.count_of("tools/list") == 3);
}

TEST_CASE("a list whose pages go in circles or bring nothing is an error") {
  for (const Json& page :
       {Json{{"tools", {1}}, {"nextCursor", "same"}}, Json{{"tools", Json::array()}, {"nextCursor", "c"}}}) {
    Script script([&page](Script& self, const Json& message) {
      if (method_of(message) != "tools/list") return legacy_server(self, message);
      self.result(message, page);
    });
    McpClient client = client_of(script);
    CHECK_THROWS_WITH(client.list(McpClient::List::kTools, 100, kPatience), rkllm_mcp::test::has_text("do not end"));
    CHECK(script.count_of("tools/list") <= 2);
  }
}

TEST_CASE("all pages of a list share one deadline") {
  // Each page comes at once, and there is no last one.
  constexpr auto kEndless = std::numeric_limits<std::size_t>::max();
  Script script([](Script& self, const Json& message) {
    if (method_of(message) != "tools/list") return legacy_server(self, message);
    const int page = message["params"].value("cursor", 0);
    self.result(message, {{"tools", {page}}, {"nextCursor", page + 1}});
  });
  McpClient client = client_of(script);
  CHECK_THROWS_WITH(client.list(McpClient::List::kTools, kEndless, 200ms), rkllm_mcp::test::has_text("in time"));
}

TEST_CASE("a list without items is an error, not an empty list") {
  Script script([](Script& self, const Json& message) {
    if (method_of(message) != "tools/list") return legacy_server(self, message);
    self.result(message, Json::object());
  });
  McpClient client = client_of(script);
  CHECK_THROWS_AS(client.list(McpClient::List::kTools, 100, kPatience), ConnectionError);
}

TEST_CASE("answers find their requests in any order, and progress the one whose token it has") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  Waiting first;
  Waiting second;
  const auto one = client.request("tools/call", Json::object(), first.callbacks());
  const auto two = client.request("tools/call", Json::object(), second.callbacks());
  const auto progress = [&script](Json token, double value) {
    script.say(
        {{"method", "notifications/progress"}, {"params", {{"progressToken", std::move(token)}, {"progress", value}}}});
  };
  progress(two, 1);
  progress(one, 0.5);
  progress(two, 3);
  progress(two, 2);  // late: over UDP
  progress(two, 3);
  progress(99, 1);
  progress("x", 1);
  script.result({{"id", two}}, "second");
  script.error({{"id", one}}, 4004, {{"limit", 1}});
  CHECK(std::get<Json>(second.outcome()) == "second");
  const auto error = std::get<RemoteError>(first.outcome());
  CHECK(error.code == 4004);
  CHECK(error.message == "no");
  CHECK(error.data["limit"] == 1);
  CHECK(first.progress == std::vector<double>{0.5});
  CHECK(second.progress == std::vector<double>{1, 3});
}

TEST_CASE("progress is asked for only by those who want it") {
  Script script(modern_server);
  McpClient client = client_of(script);
  client.request("tools/call", Json::object(), {.on_end = [](const Outcome&) {}});
  CHECK_FALSE(Json::parse(script.sent(2)[1])["params"]["_meta"].contains("progressToken"));
}

TEST_CASE("a cancelled request is named to the server and has no end") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  const auto ends = std::make_shared<int>(0);
  const auto id = client.request("tools/call", Json::object(), {.on_end = [ends](const Outcome&) { ++*ends; }});
  client.cancel(id, "enough");
  client.cancel(id);
  const auto sent = script.sent();
  const Json last = Json::parse(sent.back());
  CHECK(method_of(last) == "notifications/cancelled");
  CHECK(last["params"] == Json{{"requestId", id}, {"reason", "enough"}});
  CHECK(script.count_of("notifications/cancelled") == 1);
  script.result({{"id", id}}, "late");
  Waiting behind;
  const auto other = client.request("tools/call", Json::object(), behind.callbacks());
  script.result({{"id", other}}, "on time");
  CHECK(std::get<Json>(behind.outcome()) == "on time");
  CHECK(*ends == 0);
}

TEST_CASE("a request that takes too long is cancelled") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  CHECK_THROWS_AS(client.call("tools/call", Json::object(), 20ms), ConnectionError);
  CHECK(script.count_of("notifications/cancelled") == 1);
}

TEST_CASE("what is nested a million deep is passed over") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  Waiting waiting;
  const auto id = client.request("tools/call", Json::object(), waiting.callbacks());
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  script.inbox.put(R"({"id":)" + std::to_string(id) + R"(,"result":)" + deep + "}");
  script.inbox.put(R"({"id":)" + deep + R"(,"method":"ping"})");
  script.inbox.put(R"({"method":"notifications/progress","params":{"progressToken":1,"progress":1,"x":)" + deep + "}}");
  script.result({{"id", id}}, "shallow");
  CHECK(std::get<Json>(waiting.outcome()) == "shallow");
}

TEST_CASE("an error without id belongs to the only request in flight, of several it loses the connection") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  const Json refusal = {{"id", nullptr}, {"error", {{"code", -32700}, {"message", "parse error"}}}};
  script.say(refusal);  // nothing is in flight
  script.say({{"id", "p"}, {"method", "ping"}});
  script.sent(4);  // it has been read
  Waiting alone;
  client.request("tools/call", Json::object(), alone.callbacks());
  script.say(refusal);
  const auto error = std::get<RemoteError>(alone.outcome());
  CHECK(error.code == -32700);
  CHECK_FALSE(error.is_lost);
  Waiting one;
  Waiting two;
  client.request("tools/call", Json::object(), one.callbacks());
  client.request("tools/call", Json::object(), two.callbacks());
  script.say(refusal);
  CHECK(std::get<RemoteError>(one.outcome()).is_lost);
  CHECK_THAT(std::get<RemoteError>(two.outcome()).message, rkllm_mcp::test::has_text("parse error"));
}

TEST_CASE("an error code that no int holds becomes -32603") {
  Script script(legacy_server);
  McpClient client = client_of(script);
  for (const char* code : {"2147483648", "-2147483649", "18446744073709551615", "1e3"}) {
    Waiting waiting;
    const auto id = client.request("tools/call", Json::object(), waiting.callbacks());
    script.inbox.put(R"({"id":)" + std::to_string(id) + R"(,"error":{"message":"no","code":)" + code + "}}");
    CHECK(std::get<RemoteError>(waiting.outcome()).code == -32603);
  }
}

TEST_CASE("a server that asks and does not read is read on") {
  std::promise<void> released;
  const auto release = released.get_future().share();
  Script script([release](Script& self, const Json& message) {
    if (!message.contains("method")) return release.wait();  // an answer of ours: it takes none
    legacy_server(self, message);
  });
  std::promise<void> last;
  const McpClient client = client_of(script, EraChoice::kAuto,
                                     {.on_notification = [&](const std::string&, const Json&) { last.set_value(); }});
  for (int id = 0; id < 100; ++id) script.say({{"id", id}, {"method", "ping"}});
  script.say({{"method", "notifications/message"}});
  CHECK(last.get_future().wait_for(kPatience) == std::future_status::ready);
  released.set_value();
}

TEST_CASE("the server's ping is answered, and its other requests are refused") {
  Script script(legacy_server);
  const McpClient client = client_of(script);
  script.say({{"id", "p"}, {"method", "ping"}});
  script.say({{"id", 7}, {"method", "sampling/createMessage"}, {"params", Json::object()}});
  const auto sent = script.sent(5);
  CHECK(Json::parse(sent[3]) == Json{{"jsonrpc", "2.0"}, {"id", "p"}, {"result", Json::object()}});
  CHECK(Json::parse(sent[4])["id"] == 7);
  CHECK(Json::parse(sent[4])["error"]["code"] == -32601);
}

TEST_CASE("notifications come in order to the one who wants them, and rubbish is passed over") {
  Script script(legacy_server);
  std::promise<void> last;
  std::vector<std::string> methods;
  const McpClient client =
      client_of(script, EraChoice::kAuto, {.on_notification = [&](const std::string& method, const Json& params) {
                  methods.push_back(method);
                  if (params.is_object() && params.contains("last")) last.set_value();
                }});
  script.say({{"method", "notifications/tools/list_changed"}});
  script.inbox.put("rubbish");
  script.inbox.put("[3]");
  script.inbox.put(R"({"id":{},"result":3})");
  script.inbox.put(R"({"id":1})");
  script.say({{"method", "notifications/message"}, {"params", {{"last", true}}}});
  REQUIRE(last.get_future().wait_for(kPatience) == std::future_status::ready);
  CHECK(methods == std::vector<std::string>{"notifications/tools/list_changed", "notifications/message"});
}

TEST_CASE("a lost connection ends every request in flight with the reason, and refuses new ones") {
  Script script(legacy_server);
  std::promise<std::string> lost;
  McpClient client =
      client_of(script, EraChoice::kAuto, {.on_lost = [&lost](const std::string& reason) { lost.set_value(reason); }});
  Waiting one;
  Waiting two;
  client.request("tools/call", Json::object(), one.callbacks());
  client.request("tools/call", Json::object(), two.callbacks());
  script.inbox.fail("the cable is cut");
  for (Waiting* waiting : {&one, &two}) {
    const auto error = std::get<RemoteError>(waiting->outcome());
    CHECK(error.code == -32603);
    CHECK(error.is_lost);
    CHECK(error.message == "the cable is cut");
  }
  auto reason = lost.get_future();
  REQUIRE(reason.wait_for(kPatience) == std::future_status::ready);
  CHECK(reason.get() == "the cable is cut");
  CHECK_THROWS_AS(client.request("ping", Json::object(), {.on_end = [](const Outcome&) {}}), ConnectionError);
  CHECK_THROWS_AS(client.call("ping", Json::object(), kPatience), ConnectionError);
}

TEST_CASE("destroying a client with requests in flight takes no time and calls nobody") {
  Script script(legacy_server);
  bool is_called = false;
  const auto began = std::chrono::steady_clock::now();
  {
    McpClient client = client_of(script, EraChoice::kAuto, {.on_lost = [&](const std::string&) { is_called = true; }});
    client.request("tools/call", Json::object(), {.on_end = [&is_called](const Outcome&) { is_called = true; }});
  }
  CHECK(std::chrono::steady_clock::now() - began < 10s);
  CHECK_FALSE(is_called);
}
