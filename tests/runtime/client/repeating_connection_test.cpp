#include "client/repeating_connection.hpp"

#include "runtime/client/scripted_connection.hpp"
#include "support/catch.hpp"

using namespace rkllm_mcp::client;
using rkllm_mcp::Json;
using rkllm_mcp::test::Script;
using rkllm_mcp::test::ScriptedConnection;
using namespace std::chrono_literals;

namespace {

const std::string kRequest = R"({"jsonrpc":"2.0", "id":1,"method":"ping"})";
const Json kAnswer = {{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}};

RepeatingConnection over(Script& script) { return {std::make_unique<ScriptedConnection>(script), "udp://h:1"}; }
Deadline within(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

}  // namespace

TEST_CASE("a request is sent again, byte for byte, until it is answered") {
  Script script;
  auto connection = over(script);
  connection.send(kRequest);
  CHECK_FALSE(connection.receive(within(900ms)));  // after 200 and 600 ms
  CHECK(script.sent() == std::vector<std::string>{kRequest, kRequest, kRequest});
  script.say(kAnswer);
  CHECK(Json::parse(connection.receive(within(1s)).value()) == kAnswer);
  CHECK_FALSE(connection.receive(within(1500ms)));
  CHECK(script.sent().size() == 3);
}

TEST_CASE("an answer that comes twice is handed out once; chunks under one id all are") {
  Script script;
  auto connection = over(script);
  connection.send(kRequest);
  script.say(kAnswer);
  script.say(kAnswer);
  Json chunk = kAnswer;
  for (int seq = 0; seq < 3; ++seq) {
    chunk["result"] = {{"chunk", {{"seq", seq}}}};
    script.say(chunk);
  }
  CHECK(Json::parse(connection.receive(within(1s)).value()) == kAnswer);
  for (int seq = 0; seq < 3; ++seq) {
    CHECK(Json::parse(connection.receive(within(1s)).value())["result"]["chunk"]["seq"] == seq);
  }
  CHECK_FALSE(connection.receive(within(50ms)));
}

TEST_CASE("an id that is used again gets its answer, though it is the same one") {
  Script script;
  auto connection = over(script);
  for (int round = 0; round < 2; ++round) {
    connection.send(kRequest);
    script.say(kAnswer);
    CHECK(connection.receive(within(1s)));
  }
}

TEST_CASE("a cancelled request is not repeated, but its cancellation is, twice") {
  Script script;
  auto connection = over(script);
  connection.send(kRequest);
  const std::string cancellation = R"({"method":"notifications/cancelled","params":{"requestId":1}})";
  connection.send(cancellation);
  CHECK_FALSE(connection.receive(within(1800ms)));
  CHECK(script.sent() == std::vector<std::string>{kRequest, cancellation, cancellation, cancellation});
}

TEST_CASE("other notifications are sent once") {
  Script script;
  auto connection = over(script);
  connection.send(R"({"method":"notifications/initialized"})");
  CHECK_FALSE(connection.receive(within(400ms)));
  CHECK(script.sent().size() == 1);
}

TEST_CASE("a request too long for a datagram is answered with an error that says so") {
  Script script;
  auto connection = over(script);
  connection.send(Json{{"id", "long"}, {"method", "ping"}, {"params", {{"x", std::string(70'000, 'x')}}}}.dump());
  const Json answer = Json::parse(connection.receive(within(1s)).value());
  CHECK(answer["id"] == "long");
  CHECK(answer["error"]["code"] == -32603);
  CHECK(answer["error"]["data"]["limit"] == 65'507);
  CHECK(script.sent().empty());
}

TEST_CASE("interrupting ends a receive that waits") {
  Script script;
  auto connection = over(script);
  std::thread other([&connection] { connection.interrupt(); });
  CHECK_THROWS_AS(connection.receive(within(20s)), ConnectionError);
  other.join();
}
