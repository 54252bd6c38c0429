#include "client/http/http_server_state.hpp"

#include "client/connection.hpp"
#include "runtime/client/one_shot_server.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

using namespace rkllm_mcp::client;
using rkllm_mcp::Json;
using rkllm_mcp::test::OneShotServer;
using namespace std::chrono_literals;

namespace {

using HttpFields = std::multimap<std::string, std::string>;

struct StateOfServer : HttpServerState {
  explicit StateOfServer(std::uint16_t port = 8443)
      : HttpServerState(Endpoint{Protocol::kHttp, "127.0.0.1", port, "/mcp?x=1"}, 60s) {}

  HttpFields headers_of(const Json& message) const {
    const std::string text = message.dump();
    return post(facts_of(text), text).headers;
  }
};

Json legacy(const std::string& method) { return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}}; }

Json modern_call(const std::string& method, Json params) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
}

std::string answer_naming(const Json& revision) {
  return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", {{"protocolVersion", revision}}}}.dump();
}

const std::string kTakesBoth = "application/json, text/event-stream";

}  // namespace

TEST_CASE("a message is posted as it is, to the server's path") {
  const StateOfServer state;
  CHECK(state.url() == "http://127.0.0.1:8443/mcp?x=1");
  const HttpRequest request = state.post({}, "gr\xC3\xBC\xC3\x9F");
  CHECK(request.method == "POST");
  CHECK(request.path == "/mcp?x=1");
  CHECK(request.body == "gr\xC3\xBC\xC3\x9F");
  CHECK(request.headers == HttpFields{{"Accept", kTakesBoth}});
}

TEST_CASE("from its answer to initialize on a server is told its session and the revision, but not by initialize") {
  StateOfServer state;
  CHECK_FALSE(state.has_id());
  CHECK(state.headers_of(legacy("tools/list")) == HttpFields{{"Accept", kTakesBoth}});
  state.take_id("session-1");
  state.take_revision(answer_naming("2025-06-18"));
  CHECK(state.has_id());
  const HttpFields session{{"Mcp-Session-Id", "session-1"}, {"MCP-Protocol-Version", "2025-06-18"}};
  HttpFields posted = session;
  posted.emplace("Accept", kTakesBoth);
  CHECK(state.headers_of(legacy("tools/list")) == posted);
  CHECK(state.headers_of(legacy("initialize")) == HttpFields{{"Accept", kTakesBoth}});

  HttpFields got = session;
  got.emplace("Accept", "text/event-stream");
  CHECK(state.get("").headers == got);
  const HttpRequest end = state.end_of_session();
  CHECK(end.method == "DELETE");
  CHECK(end.path == "/mcp?x=1");
  CHECK(end.body.empty());
  CHECK(end.headers == session);
}

TEST_CASE("a server that keeps no session is told of none") {
  StateOfServer state;
  state.take_id("session-1");
  state.take_id("");
  CHECK_FALSE(state.has_id());
  CHECK(state.end_of_session().headers.empty());
}

TEST_CASE("a stream of events is asked for from the beginning, or after the event that came last") {
  const StateOfServer state;
  const HttpRequest request = state.get("s-7");
  CHECK(request.method == "GET");
  CHECK(request.path == "/mcp?x=1");
  CHECK(request.body.empty());
  CHECK(request.headers == HttpFields{{"Accept", "text/event-stream"}, {"Last-Event-ID", "s-7"}});
  CHECK(state.get("").headers.count("Last-Event-ID") == 0);
}

TEST_CASE("a modern message is repeated in headers, whatever session there is") {
  StateOfServer state;
  state.take_id("session-1");
  state.take_revision(answer_naming("2025-06-18"));
  CHECK(state.headers_of(modern_call("tools/list", Json::object())) ==
        HttpFields{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/list"}, {"Accept", kTakesBoth}});
  CHECK(state.headers_of(modern_call("resources/read", {{"uri", "gr\xC3\xBC\xC3\x9F"}})) ==
        HttpFields{{"MCP-Protocol-Version", "2026-07-28"},
                   {"Mcp-Method", "resources/read"},
                   {"Mcp-Name", "=?base64?Z3LDvMOf?="},
                   {"Accept", kTakesBoth}});
}

TEST_CASE("the arguments that a listed tool wants repeated are, in calls of it alone") {
  StateOfServer state;
  const Json schema{{"properties", {{"region", {{"x-mcp-header", "Region"}}}}}};
  state.take_tools(Json{{"result", {{"tools", {{{"name", "t"}, {"inputSchema", schema}}}}}}}.dump());
  const Json params{{"name", "t"}, {"arguments", {{"region", "eu"}}}};
  const HttpFields call = state.headers_of(modern_call("tools/call", params));
  CHECK(call.size() == 5);
  CHECK(call.find("Mcp-Param-Region")->second == "eu");
  CHECK(call.find("Mcp-Name")->second == "t");
  CHECK(state.headers_of(modern_call("prompts/get", params)).count("Mcp-Param-Region") == 0);
  CHECK(state.headers_of(modern_call("tools/call", {{"name", "other"}})).size() == 4);
}

TEST_CASE("only a revision that is agreed on by initialize is told, the last one") {
  StateOfServer state;
  const auto told = [&state] {
    const auto headers = state.get("").headers;
    const auto found = headers.find("MCP-Protocol-Version");
    return found == headers.end() ? std::string() : found->second;
  };
  state.take_revision(answer_naming("2027-01-01"));
  CHECK(told().empty());
  state.take_revision(answer_naming("2025-03-26"));
  CHECK(told() == "2025-03-26");
  for (const std::string& other :
       {answer_naming("2026-07-28"), answer_naming("x\r\nEvil: 1"), answer_naming(""), answer_naming(7),
        std::string("no JSON"), std::string("[]"), std::string(R"({"result":[]})"), std::string("{}")}) {
    CAPTURE(other);
    state.take_revision(other);
    CHECK(told() == "2025-03-26");
  }
  state.take_revision(answer_naming("2025-11-25"));
  CHECK(told() == "2025-11-25");
}

TEST_CASE("a server can be reached as long as something accepts connections there") {
  const OneShotServer server([](int) {});
  const StateOfServer state(server.port());
  CHECK(state.is_reachable());
  CHECK_NOTHROW(state.reach());
  server.stop_listening();
  CHECK_FALSE(state.is_reachable());
  CHECK_THROWS_AS(state.reach(), Unreachable);
}
