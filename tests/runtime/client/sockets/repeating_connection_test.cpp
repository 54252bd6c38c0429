#include "client/sockets/repeating_connection.hpp"
#include "client/sockets/udp_connection.hpp"

#include "runtime/client/scripted_connection.hpp"
#include "support/catch.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::test::Script;
using rkllm_mcp::test::ScriptedConnection;
using namespace std::chrono_literals;

namespace {

const std::string kRequest = R"({"jsonrpc":"2.0", "id":1,"method":"ping"})";
// A socket that datagrams can be sent to.
struct UdpServer {
  UdpServer() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    REQUIRE(::bind(number, address, size) == 0);
    REQUIRE(::getsockname(number, address, &size) == 0);
    port = ntohs(name.sin_port);
  }
  UdpServer(const UdpServer&) = delete;
  UdpServer& operator=(const UdpServer&) = delete;
  ~UdpServer() { ::close(number); }

  Endpoint endpoint() const { return {Protocol::kUdp, "127.0.0.1", port, ""}; }

  const int number = ::socket(AF_INET, SOCK_DGRAM, 0);
  std::uint16_t port = 0;
};

const Json kAnswer = {{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}};

RepeatingConnection over(Script& script) { return {std::make_unique<ScriptedConnection>(script), "udp://h:1"}; }
Clock::time_point within(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

// Waits, as a caller does, until so many messages were sent and none was received.
void await_sent(RepeatingConnection& connection, Script& script, std::size_t count) {
  const Clock::time_point deadline = within(20s);
  while (script.sent().size() < count && std::chrono::steady_clock::now() < deadline) {
    CHECK_FALSE(connection.receive(within(10ms)));
  }
}

}  // namespace

TEST_CASE("a request is sent again, byte for byte, until it is answered") {
  Script script;
  auto connection = over(script);
  connection.send(kRequest);
  await_sent(connection, script, 3);
  CHECK(script.sent() == std::vector<std::string>{kRequest, kRequest, kRequest});
  script.say(kAnswer);
  CHECK(Json::parse(connection.receive(within(20s)).value()) == kAnswer);
  CHECK_FALSE(connection.receive(within(1500ms)));
  CHECK(script.sent().size() == 3);
}

TEST_CASE("an answer that comes twice is handed out once, chunks under one id all are") {
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
  CHECK(Json::parse(connection.receive(within(20s)).value()) == kAnswer);
  for (int seq = 0; seq < 3; ++seq) {
    CHECK(Json::parse(connection.receive(within(20s)).value())["result"]["chunk"]["seq"] == seq);
  }
  CHECK_FALSE(connection.receive(within(50ms)));
}

TEST_CASE("an id that is used again gets its answer, though it is the same one") {
  Script script;
  auto connection = over(script);
  for (int round = 0; round < 2; ++round) {
    connection.send(kRequest);
    script.say(kAnswer);
    CHECK(connection.receive(within(20s)));
  }
}

TEST_CASE("a cancelled request is not repeated, but its cancellation is, twice") {
  Script script;
  auto connection = over(script);
  connection.send(kRequest);
  const std::string cancellation = R"({"method":"notifications/cancelled","params":{"requestId":1}})";
  connection.send(cancellation);
  await_sent(connection, script, 4);
  CHECK_FALSE(connection.receive(within(1500ms)));
  CHECK(script.sent() == std::vector<std::string>{kRequest, cancellation, cancellation, cancellation});
}

TEST_CASE("other notifications are sent once") {
  Script script;
  auto connection = over(script);
  connection.send(R"({"method":"notifications/initialized"})");
  CHECK_FALSE(connection.receive(within(400ms)));
  CHECK(script.sent().size() == 1);
}

TEST_CASE("a request that is too long for a datagram, token and all, is answered with an error, the others go on") {
  const UdpServer server;
  Endpoint endpoint = server.endpoint();
  endpoint.token = std::string(64, 't');
  RepeatingConnection connection(std::make_unique<UdpConnection>(endpoint, within(20s)), endpoint.url());
  const auto request = [](const Json& id, std::size_t length) {
    return Json{{"id", id}, {"method", "ping"}, {"params", {{"x", std::string(length, 'x')}}}}.dump();
  };
  for (const std::size_t length : {std::size_t{70'000}, std::size_t{65'440}}) {
    connection.send(request("long", length));
    const Json answer = Json::parse(connection.receive(within(20s)).value());
    CHECK(answer["id"] == "long");
    CHECK(answer["error"]["code"] == -32603);
    CHECK_THAT(answer["error"]["message"].get<std::string>(), rkllm_mcp::test::has_text("too long for a datagram"));
    CHECK_FALSE(connection.receive(within(300ms)));  // nor is it repeated
  }
  connection.send(request("short", 65'000));
  std::vector<char> datagram(65'536);
  CHECK(::recv(server.number, datagram.data(), datagram.size(), MSG_DONTWAIT) > 65'000);
}

TEST_CASE("a UDP connection that is interrupted hands out nothing that comes later") {
  const UdpServer server;
  UdpConnection connection(server.endpoint(), within(20s));
  connection.send(kRequest);
  std::vector<char> datagram(1000);
  sockaddr_in client{};
  socklen_t size = sizeof client;
  auto* const address = reinterpret_cast<sockaddr*>(&client);
  REQUIRE(::recvfrom(server.number, datagram.data(), datagram.size(), 0, address, &size) > 0);
  connection.interrupt();
  CHECK_THROWS_AS(connection.receive(within(20s)), ConnectionError);
  const std::string answer = kAnswer.dump();
  REQUIRE(::sendto(server.number, answer.data(), answer.size(), 0, address, size) > 0);
  CHECK_THROWS_AS(connection.receive(within(20s)), ConnectionError);
}

TEST_CASE("interrupting ends a receive that waits") {
  Script script;
  auto connection = over(script);
  std::thread other([&connection] { connection.interrupt(); });
  CHECK_THROWS_AS(connection.receive(within(20s)), ConnectionError);
  other.join();
}
