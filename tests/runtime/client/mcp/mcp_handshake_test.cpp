#include "client/mcp/mcp_handshake.hpp"

#include "runtime/client/scripted_connection.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::Script;
using rkllm_mcp::test::ScriptedConnection;
using namespace std::chrono_literals;

namespace {

const Json kClientInfo = {{"name", "test"}, {"version", "1"}};

// A server that answers `server/discover` and `initialize` as the test says, and a client's handshakes with it.
class ScriptedHandshake {
 public:
  using Answer = std::function<void(Script&, const Json&)>;

  ScriptedHandshake(Answer discover, Answer initialize)
      : script(
            [discover = std::move(discover), initialize = std::move(initialize)](Script& server, const Json& message) {
              const std::string method = message.value("method", "");
              if (method == "server/discover" && discover) discover(server, message);
              if (method == "initialize" && initialize) initialize(server, message);
            }) {}

  ServerFacts shake(EraChoice era = EraChoice::kAuto) {
    Introduction introduction{.era = era, .client_info = kClientInfo, .capabilities = {{"roots", Json::object()}}};
    introduction.patience = patience;
    introduction.probe_patience = patience;
    return shake_hands(requests_, introduction);
  }
  std::vector<std::string> methods() const {
    std::vector<std::string> all;
    for (const auto& text : script.sent()) all.push_back(Json::parse(text).value("method", ""));
    return all;
  }

  Script script;
  std::chrono::milliseconds patience = 60s;

 private:
  NumberedRequests requests_{std::make_unique<ScriptedConnection>(script), {}};
};

ScriptedHandshake::Answer result_of(const Json& result) {
  return [result](Script& server, const Json& message) { server.result(message, result); };
}
ScriptedHandshake::Answer error_of(int code, const Json& data = nullptr) {
  return [code, data](Script& server, const Json& message) { server.error(message, code, data); };
}

const Json kDiscovery = {{"supportedVersions", {"2027-01-01", "2026-07-28"}},
                         {"capabilities", {{"tools", Json::object()}}},
                         {"instructions", "gr\xC3\xBC\xC3\x9F"},
                         {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "modern"}}}}}};
const Json kShaken = {{"protocolVersion", "2025-06-18"},
                      {"capabilities", {{"tools", Json::object()}}},
                      {"serverInfo", {{"name", "legacy"}}},
                      {"instructions", "be nice"}};

using Methods = std::vector<std::string>;

}  // namespace

TEST_CASE("a server of the modern era is known by what it discloses, and is asked for no handshake") {
  ScriptedHandshake handshake(result_of(kDiscovery), {});
  const ServerFacts facts = handshake.shake();
  CHECK_FALSE(facts.has_handshake);
  CHECK(facts.revision == "2026-07-28");
  CHECK(facts.info == Json{{"name", "modern"}});
  CHECK(facts.capabilities == Json{{"tools", Json::object()}});
  CHECK(facts.instructions == "gr\xC3\xBC\xC3\x9F");
  CHECK(handshake.methods() == Methods{"server/discover"});
  const Json params = Json::parse(handshake.script.sent().at(0))["params"];
  CHECK(params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28");
  CHECK(params["_meta"]["io.modelcontextprotocol/clientInfo"] == kClientInfo);
}

TEST_CASE("a server of the legacy era is told who asks, in the newest revision, and that it is understood") {
  ScriptedHandshake handshake({}, result_of(kShaken));
  const ServerFacts facts = handshake.shake(EraChoice::kLegacy);
  CHECK(facts.has_handshake);
  CHECK(facts.revision == "2025-06-18");
  CHECK(facts.info == Json{{"name", "legacy"}});
  CHECK(facts.capabilities == Json{{"tools", Json::object()}});
  CHECK(facts.instructions == "be nice");
  CHECK(handshake.methods() == Methods{"initialize", "notifications/initialized"});
  CHECK(Json::parse(handshake.script.sent().at(0))["params"] == Json{{"protocolVersion", "2025-11-25"},
                                                                     {"capabilities", {{"roots", Json::object()}}},
                                                                     {"clientInfo", kClientInfo}});
}

TEST_CASE("what a server does not say of itself, or says in another form, is empty") {
  ScriptedHandshake modern(result_of({{"supportedVersions", {"2026-07-28"}}, {"capabilities", 7}, {"_meta", "x"}}), {});
  ScriptedHandshake legacy({},
                           result_of({{"protocolVersion", "2024-11-05"}, {"serverInfo", {1}}, {"instructions", 7}}));
  for (const auto& facts : {modern.shake(EraChoice::kModern), legacy.shake(EraChoice::kLegacy)}) {
    CHECK(facts.info == Json::object());
    CHECK(facts.capabilities == Json::object());
    CHECK(facts.instructions.empty());
  }
}

TEST_CASE("an error that is JSON-RPC's own, or a status of 400 to 499, leads to the legacy era") {
  for (const auto& answer :
       {error_of(-32601), error_of(-32768), error_of(-32000), error_of(-32602), error_of(-32603, {{"status", 400}}),
        error_of(7, {{"status", 499}}), error_of(-32601, "text"), error_of(-32601, {{"status", "500"}})}) {
    ScriptedHandshake handshake(answer, result_of(kShaken));
    CHECK(handshake.shake().has_handshake);
    CHECK(handshake.methods() == Methods{"server/discover", "initialize", "notifications/initialized"});
  }
}

TEST_CASE("any other error is the server's refusal, and goes no further") {
  for (const auto& answer :
       {error_of(-32769), error_of(-31999), error_of(1), error_of(-32603), error_of(-32020), error_of(-32021),
        error_of(-32601, {{"status", 399}}), error_of(-32601, {{"status", 500}})}) {
    ScriptedHandshake handshake(answer, result_of(kShaken));
    CHECK_THROWS_AS(handshake.shake(), RemoteRefusal);
    CHECK(handshake.methods() == Methods{"server/discover"});
  }
}

TEST_CASE("a discovery without the modern revision, or no answer, leads to the legacy era") {
  for (const Json& discovery : {Json{{"supportedVersions", {"2027-01-01"}}}, Json{{"supportedVersions", "2026-07-28"}},
                                Json::object(), Json::array(), Json("x")}) {
    CAPTURE(discovery.dump());
    ScriptedHandshake handshake(result_of(discovery), result_of(kShaken));
    CHECK(handshake.shake().has_handshake);
  }
  ScriptedHandshake silent({}, {});
  silent.patience = 1ms;
  CHECK_THROWS_WITH(silent.shake(), "the server does not answer initialize");
  CHECK(silent.script.count_of("server/discover") == 1);
  CHECK(silent.script.count_of("initialize") == 1);
}

TEST_CASE("whoever wants the modern era alone gets it or an error") {
  ScriptedHandshake refusing(error_of(-32601), result_of(kShaken));
  CHECK_THROWS_AS(refusing.shake(EraChoice::kModern), RemoteRefusal);
  ScriptedHandshake older(result_of({{"supportedVersions", {"2025-11-25"}}}), result_of(kShaken));
  CHECK_THROWS_WITH(older.shake(EraChoice::kModern), "the server does not speak MCP 2026-07-28");
  ScriptedHandshake silent({}, result_of(kShaken));
  silent.patience = 1ms;
  CHECK_THROWS_WITH(silent.shake(EraChoice::kModern), "the server does not answer server/discover");
  for (const auto* const each : {&refusing, &older, &silent}) CHECK(each->script.count_of("initialize") == 0);
}

TEST_CASE("a handshake that is refused, or ends with a revision that this client does not speak, is an error") {
  ScriptedHandshake refusing({}, error_of(-32602));
  CHECK_THROWS_AS(refusing.shake(EraChoice::kLegacy), RemoteRefusal);
  for (const Json& answer : {Json{{"protocolVersion", "2026-07-28"}}, Json{{"protocolVersion", "1999-01-01"}},
                             Json{{"protocolVersion", 7}}, Json::object(), Json("x")}) {
    CAPTURE(answer.dump());
    ScriptedHandshake handshake({}, result_of(answer));
    CHECK_THROWS_WITH(handshake.shake(EraChoice::kLegacy), has_text("the server wants to speak MCP \""));
    CHECK(handshake.methods() == Methods{"initialize"});
  }
}

TEST_CASE("a connection that is lost during the handshake is an error") {
  ScriptedHandshake handshake([](Script& server, const Json&) { server.inbox.fail("gone"); }, {});
  CHECK_THROWS_AS(handshake.shake(), ConnectionError);
}

TEST_CASE("a modern request has in its _meta the revision, the client, and its capabilities unless they are there") {
  const std::string key = "io.modelcontextprotocol/";
  const Json plain = with_modern_meta(Json{{"name", "t"}}, kClientInfo);
  CHECK(plain == Json{{"name", "t"},
                      {"_meta",
                       {{key + "protocolVersion", "2026-07-28"},
                        {key + "clientInfo", kClientInfo},
                        {key + "clientCapabilities", Json::object()}}}});
  const Json given{{"_meta", {{key + "clientCapabilities", {{"sampling", Json::object()}}}, {"a", 1}}}};
  const Json kept = with_modern_meta(given, kClientInfo);
  CHECK(kept["_meta"][key + "clientCapabilities"] == Json{{"sampling", Json::object()}});
  CHECK(kept["_meta"]["a"] == 1);
  CHECK(kept["_meta"][key + "clientInfo"] == kClientInfo);
}
