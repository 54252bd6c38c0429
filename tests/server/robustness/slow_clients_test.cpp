// Clients that take their time, or stop half-way: they are given up when their time is over, and until then hold up
// nobody else.
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using SlowClock = std::chrono::steady_clock;

constexpr int kSlowClients = 40;  // of each kind
constexpr int kSlowRounds = 3;
constexpr std::chrono::milliseconds kBetweenBytes{2};

struct SlowClient {
  explicit SlowClient(std::uint16_t port) : socket(port) {}
  RawSocket socket;
  std::string answer{};
};

// All of them send a byte now and then until they have been answered, while somebody else is served all the time. Tells
// which were not answered in time, by their places in the list.
std::vector<int> unanswered(LiveServer& server, std::list<SlowClient>& clients) {
  RpcClient other(server.connect(Transport::kTcp));
  const auto deadline = SlowClock::now() + RpcClient::kPatience;
  for (bool all_answered = false; !all_answered; server.process().wait(kBetweenBytes)) {
    if (SlowClock::now() > deadline) break;
    REQUIRE(other.call("ping").contains("result"));
    all_answered = true;
    for (auto& client : clients) {
      client.answer += client.socket.receive_available();
      if (!client.answer.empty()) continue;
      client.socket.send("x");
      all_answered = false;
    }
  }
  std::vector<int> places;
  int place = 0;
  for (const auto& client : clients) {
    if (client.answer.empty()) places.push_back(place);
    ++place;
  }
  return places;
}

}  // namespace

TEST_CASE("HTTP heads, HTTP bodies and WebSocket handshakes that trickle in are given up when their time is over") {
  SteadyServer server({.set = {"http.header_timeout_s=1", "http.body_timeout_s=1"}, .with_stdio = true});
  server.endures(kSlowRounds, [&] {
    std::list<SlowClient> clients;
    for (int i = 0; i < kSlowClients; ++i) {
      clients.emplace_back(server.live().port(Transport::kHttp)).socket.send(std::string(kPost) + "X-Slow: ");
      clients.emplace_back(server.live().port(Transport::kHttp)).socket.send("P");
      clients.emplace_back(server.live().port(Transport::kHttp))
          .socket.send(std::string(kPost) + "Content-Length: 100000\r\n\r\n");
      clients.emplace_back(server.live().port(Transport::kHttp))
          .socket.send(std::string(kPost) + "Transfer-Encoding: chunked\r\n\r\n10000\r\n");
      clients.emplace_back(server.live().port(Transport::kWebSocket))
          .socket.send(kHandshake.substr(0, kHandshake.size() - 2));
    }
    REQUIRE(unanswered(server.live(), clients) == std::vector<int>());
    for (auto& client : clients) {
      const std::string answer = client.answer + client.socket.receive_rest();
      INFO(answer);
      REQUIRE(answer.starts_with("HTTP/1.1 408 "));
    }
  });
}

TEST_CASE(
    "bodies that never end, and connections that say nothing, hold up nobody and cost nothing once they are gone") {
  SteadyServer server;
  server.endures(kSlowRounds, [&] {
    std::list<RawSocket> clients;
    for (int i = 0; i < kSlowClients; ++i) {
      for (const Transport transport : {Transport::kTcp, Transport::kHttp, Transport::kWebSocket}) {
        clients.emplace_back(server.live().port(transport));
      }
      clients.emplace_back(server.live().endpoint(Transport::kUnix).path);
      clients.emplace_back(server.live().port(Transport::kHttp))
          .send(std::string(kPost) + "Content-Length: 1000000\r\n\r\n");
      clients
          .emplace_back(server.live().port(Transport::kHttp))  // a chunk of 1 MiB: one above the limit is refused
          .send(std::string(kPost) + "Transfer-Encoding: chunked\r\n\r\n100000\r\n");
    }
    RpcClient other(server.live().connect(Transport::kHttp));
    for (int i = 0; i < 50; ++i) {
      int number = 0;
      for (auto& client : clients) {
        if (number++ % 6 >= 4) client.send("x");
      }
      REQUIRE(other.call("ping").contains("result"));
    }
    int number = 0;
    for (auto& client : clients) {
      if (++number % 2 == 0) client.reset();
    }
  });
}

TEST_CASE("with limits.idle_s, TCP and Unix clients are closed that stop in the middle of a message") {
  SteadyServer server({.set = {"limits.idle_s=1"}});
  server.endures(kSlowRounds, [&] {
    std::list<RawSocket> clients;
    for (int i = 0; i < kSlowClients; ++i) {
      clients.emplace_back(server.live().port(Transport::kTcp)).send(ping(1).substr(0, 20));
      clients.emplace_back(server.live().endpoint(Transport::kUnix).path).send(ping(1) + "\n" + ping(2));
    }
    for (auto& client : clients) REQUIRE(client.ends());
  });
}

TEST_CASE("clients that finish sending in the middle of anything are closed, and told what can be told") {
  struct Unfinished {
    Transport transport;
    std::string sent;
    std::string answer;  // what it must contain
  };
  const std::string half = ping(1).substr(0, 20);
  const std::string handshake(kHandshake);
  const std::vector<Unfinished> all{
      {Transport::kTcp, "", ""},
      {Transport::kTcp, half, "-32700"},
      {Transport::kTcp, ping(1), pong(1)},
      {Transport::kTcp, run_async(1, "@n=300 finished sending"), R"("end":true)"},
      {Transport::kUnix, "", ""},
      {Transport::kUnix, half, "-32700"},
      {Transport::kUnix, run_async(1, "@n=300 finished sending"), R"("end":true)"},
      {Transport::kHttp, "", ""},
      {Transport::kHttp, "POS", ""},
      {Transport::kHttp, std::string(kPost), ""},
      {Transport::kHttp, http_post(ping(1)).substr(0, 70), ""},
      {Transport::kHttp, std::string(kPost) + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", ""},
      {Transport::kWebSocket, "", ""},
      {Transport::kWebSocket, handshake.substr(0, 40), ""},
      {Transport::kWebSocket, handshake, ""},
      {Transport::kWebSocket, handshake + text_frame(ping(1)).substr(0, 1), ""},
      {Transport::kWebSocket, handshake + text_frame(ping(1)).substr(0, 30), ""},
      {Transport::kWebSocket, handshake + client_frame(kText, ping(1)), ""},
      {Transport::kWebSocket, handshake + text_frame(run_async(1, "@n=100000000 nobody")), ""},
  };
  SteadyServer server;
  server.endures(kSlowRounds * 3, [&] {
    for (const auto& [transport, sent, answer] : all) {
      INFO(name_of(transport) << ": " << sent);
      const auto open = [&, kind = transport] {
        return kind == Transport::kUnix ? std::make_unique<RawSocket>(server.live().endpoint(kind).path)
                                        : std::make_unique<RawSocket>(server.live().port(kind));
      };
      const auto client = open();
      client->send(sent);
      client->finish_sending();
      const std::string received = client->receive_rest();
      REQUIRE(received.find(answer) != std::string::npos);
    }
  });
}

}  // namespace rkllm_mcp::test
