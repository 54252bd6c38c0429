// What transports do as time passes, on a clock that stands still until the test moves it on. The sockets are real.
#include "transport/http/http_transport.hpp"
#include "transport/lines/tcp_transport.hpp"

#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// A server's loop, which turns while the test waits.
class TimedLoop {
 public:
  TimedLoop() { std::signal(SIGPIPE, SIG_IGN); }

  asio::io_context& io() { return bench_.loop(); }
  // Whether that becomes so. The system may take its time with bytes, and tells nobody when they are there.
  bool eventually(const std::function<bool()>& is_so) {
    return test::eventually([&] {
      bench_.settle();
      return is_so();
    });
  }
  void settle() { bench_.settle(); }
  void pass(rkllm_mcp::Clock::duration time) { bench_.pass(time); }

 private:
  simulation::SimBench bench_;
};

constexpr auto kHeader = 100ms;
constexpr auto kBody = 300ms;
constexpr auto kKeepAlive = 1000ms;

// Echoes bodies, which end with kEnd; a request to /wait stays open.
class TimedHttp {
 public:
  std::uint16_t port() const { return http_.port(); }
  bool is_open(RawSocket& client) const { return http_.connection_count() == 1 && client.receive_available().empty(); }
  // What the client sends behind a whole request has been read when that is answered: they come in one piece.
  void read(RawSocket& client, const std::string& next) {
    client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n" + kEnd + next);
    REQUIRE(loop.eventually([this] { return requests_ == 1; }));
    CHECK(client.receive_until(kEnd).starts_with("HTTP/1.1 200"));
  }

  TimedLoop loop;
  std::vector<std::shared_ptr<http::Exchange>> waiting;

 private:
  static http::Options options() {
    auto options = usual_limits<http::Options>();
    options.timeouts = {kHeader, kBody, kKeepAlive};
    return options;
  }

  const std::string kEnd = "<end>";
  std::size_t requests_ = 0;
  http::Transport http_{loop.io(),
                        options(),
                        [this](const http::Request& request, http::Exchange& exchange) {
                          ++requests_;
                          if (request.path == "/wait") return waiting.push_back(exchange.shared_from_this());
                          exchange.respond({200, {}, "text/plain", request.body});
                        },
                        {}};
};

// A server of lines.
class TimedTcp {
 public:
  explicit TimedTcp(const ConnectionLimits& limits)
      : tcp_(loop.io(), TcpOptions{{}, limits}, [this](Peer& accepted) -> ReceiveFunction {
          peer = accepted.shared_from_this();
          return [this](const Received& what) {
            if (echoes && std::holds_alternative<std::string_view>(what)) peer->send(std::get<std::string_view>(what));
            if (std::holds_alternative<EndOfInput>(what)) ++ends;
            if (std::holds_alternative<TooSlow>(what)) ++too_slow;
          };
        }) {}
  TimedTcp(const TimedTcp&) = delete;
  TimedTcp& operator=(const TimedTcp&) = delete;
  ~TimedTcp() { peer = nullptr; }

  std::uint16_t port() const { return tcp_.port(); }

  TimedLoop loop;
  std::shared_ptr<Peer> peer;  // of the last client
  bool echoes = true;
  std::size_t ends = 0;
  std::size_t too_slow = 0;

 private:
  TcpTransport tcp_;
};

}  // namespace

TEST_CASE("HTTP: slow senders are told and cut off, when their time is over and not before") {
  TimedHttp server;
  RawSocket client(server.port());
  const auto is_open_until = [&](std::chrono::milliseconds time) {
    server.loop.pass(time - 1ms);
    CHECK(server.is_open(client));
    server.loop.pass(1ms);
  };
  SECTION("in the header fields") {
    server.read(client, "GET / HTTP/1.1\r\n");
    is_open_until(kHeader);
    CHECK(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 408"));
  }
  SECTION("in the header fields, byte by byte") {
    server.read(client, "GET / HTTP/1.1\r\nX: ");
    for (auto passed = 10ms; passed < kHeader; passed += 10ms) {
      server.loop.pass(10ms);
      client.send("x");
      server.loop.settle();
      CHECK(server.is_open(client));
    }
    server.loop.pass(10ms);
    CHECK(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 408"));
  }
  SECTION("in the body") {
    server.read(client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhell");
    is_open_until(kBody);
    CHECK(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 408"));
  }
  SECTION("between requests, without a word") {
    server.read(client, "");
    is_open_until(kKeepAlive);
    CHECK(client.receive_rest() == "");
  }
  SECTION("but not while they wait for the answer") {
    client.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n");
    REQUIRE(server.loop.eventually([&] { return server.waiting.size() == 1; }));
    server.loop.pass(1h);
    CHECK(server.is_open(client));
    server.waiting.front()->respond({204, {}, "", ""});
    server.loop.settle();
    CHECK(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 204"));
    server.waiting.clear();
  }
}

TEST_CASE("TCP: a line that the end of the input ends has no time to be finished in any more") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.message = 50ms;
  TimedTcp server(limits);
  server.echoes = false;
  RawSocket client(server.port());
  client.send("{one");
  client.send("}");
  client.finish_sending();
  REQUIRE(server.loop.eventually([&] { return server.ends == 1; }));
  // A layer above that takes longer for its answer than a message may take to arrive.
  server.loop.pass(10 * limits.message);
  CHECK(server.too_slow == 0);
  REQUIRE_FALSE(server.peer->closed());
  server.peer->send("{answer}");
  server.peer->close();
  server.loop.settle();
  CHECK(client.receive_rest() == " {answer}\n");  // behind the space that asks whether anybody listens
}

TEST_CASE("TCP: the time in which a client is not read is not its message's") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.message = 400ms;
  limits.send_queue_bytes = 16 * 1024;
  limits.kernel_send_bytes = 16 * 1024;
  TimedTcp server(limits);
  RawSocket client(server.port(), 4096);
  client.send("{}\n{on");
  std::string received;
  const auto has_received = [&](std::size_t bytes) {
    return server.loop.eventually([&] {
      received += client.receive_available();
      return received.size() == bytes;
    });
  };
  REQUIRE(has_received(3));
  CHECK(std::exchange(received, {}) == "{}\n");
  const std::string large(500'000, 'x');
  server.peer->send(large);
  server.loop.pass(2 * limits.message);
  CHECK(server.too_slow == 0);
  REQUIRE(has_received(large.size() + 1));  // and then it is read again
  server.loop.pass(limits.message - 1ms);
  CHECK(server.too_slow == 0);
  server.loop.pass(1ms);
  CHECK(server.too_slow == 1);
}
