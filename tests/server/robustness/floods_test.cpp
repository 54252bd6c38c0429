// Too many at once, and those who knock and run: whoever is within the limits is served, and when they have gone there
// is room again.
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::string_literals;

constexpr std::size_t kRoom = 16;
constexpr std::size_t kCrowd = 150;
constexpr int kFloodRounds = 5;
constexpr int kRunaways = 200;  // of each kind, in each round

constexpr std::array kStreamTransports{Transport::kTcp, Transport::kUnix, Transport::kHttp, Transport::kWebSocket};

std::unique_ptr<RawSocket> open_raw(LiveServer& server, Transport transport) {
  if (transport == Transport::kUnix) return std::make_unique<RawSocket>(server.endpoint(transport).path);
  return std::make_unique<RawSocket>(server.port(transport));
}

// A request in the form of the transport, with all that must come before it.
std::string first_bytes(Transport transport, const std::string& request) {
  if (transport == Transport::kHttp) return http_post(request);
  if (transport == Transport::kWebSocket) return std::string(kHandshake) + text_frame(request);
  return request + "\n";
}

LiveServer::Options little_room() {
  return {.set = {"limits.max_connections=" + std::to_string(kRoom)}, .with_stdio = true};
}

}  // namespace

TEST_CASE("of a crowd, limits.max_connections clients of each transport are served, the others sent away") {
  SteadyServer server(little_room());
  server.endures(kFloodRounds, [&] {
    for (const Transport transport : kStreamTransports) {
      INFO(name_of(transport));
      std::vector<std::unique_ptr<RawSocket>> crowd;
      while (crowd.size() < kCrowd) crowd.push_back(open_raw(server.live(), transport));
      for (std::size_t i = 0; i < kCrowd; ++i) {
        INFO("client " << i);
        if (i < kRoom) {
          crowd[i]->send(first_bytes(transport, ping(1)));
          REQUIRE_NOTHROW(crowd[i]->receive_until(pong(1)));
        } else {
          const std::string answer = crowd[i]->receive_rest();
          REQUIRE((answer.empty() || answer.find("too many connections") != std::string::npos));
        }
      }
    }
    server.await_quiet();
  });
}

TEST_CASE("of a crowd of UDP clients each is answered, and limits.max_connections are remembered") {
  SteadyServer server(little_room());
  server.endures(2, [&] {
    std::vector<std::unique_ptr<RpcClient>> crowd;
    while (crowd.size() < kCrowd) crowd.push_back(std::make_unique<RpcClient>(server.live().connect(Transport::kUdp)));
    for (auto& client : crowd) {
      client->send_text("?");
      REQUIRE(client->receive_or_throw()["error"]["code"] == -32700);
      REQUIRE(client->call("ping").contains("result"));
    }
    REQUIRE(server.live().health()["transports"]["udp"]["connections"] == kRoom);
  });
}

TEST_CASE("clients that are reset before, within or right after a request leave nothing behind") {
  SteadyServer server;
  server.endures(kFloodRounds, [&] {
    for (const Transport transport : kStreamTransports) {
      const std::string whole = first_bytes(transport, run_async(1, "@n=100 nobody waits"));
      for (int i = 0; i < kRunaways; ++i) {
        const auto sent = static_cast<std::size_t>(i) * whole.size() / kRunaways;
        const auto client = open_raw(server.live(), transport);
        client->send(std::string_view(whole).substr(0, i % 2 == 0 ? sent : whole.size() - sent / 20));
        client->reset();
      }
    }
  });
}

TEST_CASE("clients that come and go as fast as they can leave nothing behind") {
  SteadyServer server;
  server.endures(kFloodRounds, [&] {
    for (const Transport transport : kStreamTransports) {
      for (int i = 0; i < 2 * kRunaways; ++i) open_raw(server.live(), transport);
      const auto client = open_raw(server.live(), transport);
      client->send(first_bytes(transport, ping(1)));
      REQUIRE_NOTHROW(client->receive_until(pong(1)));
    }
  });
}

TEST_CASE(
    "a web page that posts to the TCP port is told once and cut off, and the messages in its body are not executed") {
  SteadyServer server;
  const std::string prompt = "@n=1 from a web page";
  const std::string message = run(prompt) + "\n";
  server.endures(kFloodRounds, [&] {
    for (const std::string method :
         {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "TRACE", "patch", "FOO", "PROPFIND"}) {
      for (const std::string start : {"", "\r\n", "\n\n"}) {
        INFO(start << method);
        RawSocket client(server.live().port(Transport::kTcp));
        client.send(start + method + " / HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                    std::to_string(message.size()) + "\r\n\r\n" + message);
        const std::string answer = client.receive_rest();
        REQUIRE(answer.starts_with(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,)"));
        REQUIRE(answer.find('\n') == answer.size() - 1);
      }
    }
  });
  CHECK(server.runs_of(prompt) == 0);
}

TEST_CASE("what belongs to another protocol is refused on every port, and nothing in it is executed") {
  SteadyServer server;
  const std::string prompt = "@n=1 in another protocol";
  const std::string message = run(prompt) + "\n";
  const std::string hello = "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"s + std::string(500, '\x07') + "\n";  // of TLS
  server.endures(kFloodRounds, [&] {
    for (const Transport transport : kStreamTransports) {
      INFO(name_of(transport));
      const auto client = open_raw(server.live(), transport);
      client->send(hello);
      const bool lines = transport == Transport::kTcp || transport == Transport::kUnix;
      REQUIRE_NOTHROW(client->receive_until(lines ? "-32700" : "HTTP/1.1 400 "));
    }
    for (const Transport transport : {Transport::kHttp, Transport::kWebSocket}) {
      RawSocket lines(server.live().port(transport));
      lines.send(message + message);
      REQUIRE(lines.receive_rest().starts_with("HTTP/1.1 400 "));
      RawSocket frames(server.live().port(transport));
      frames.send(text_frame(run(prompt)) + "\r\n");
      REQUIRE(frames.receive_rest().starts_with("HTTP/1.1 400 "));
    }
    RpcClient datagrams(server.live().connect(Transport::kUdp));
    for (const std::string& bytes : {http_post(run(prompt)), text_frame(run(prompt)), hello}) {
      datagrams.send_text(bytes);
      REQUIRE(datagrams.receive_or_throw()["error"]["code"] == -32700);
    }
  });
  CHECK(server.runs_of(prompt) == 0);
}

}  // namespace rkllm_mcp::test
