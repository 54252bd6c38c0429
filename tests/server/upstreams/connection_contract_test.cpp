// What client/connection.hpp promises (client::Connection), held against every kind of connection, over real sockets,
// with this project's own transports as the servers. (Here, since a server that is started by a command is one of the
// kinds.)
#include "client/connection.hpp"

#include "client/endpoint.hpp"
#include "runtime/transport/loop_thread.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/usual_limits.hpp"
#include "transport/bytes/tls_identity.hpp"
#include "transport/http/http_transport.hpp"
#include "transport/lines/tcp_transport.hpp"
#include "transport/lines/unix_transport.hpp"
#include "transport/udp/udp_transport.hpp"
#include "transport/websocket/websocket_transport.hpp"
#include "upstreams/command_connection.hpp"
#include "upstreams/stoppable_connection.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::chrono_literals;
using client::Connection;
using client::ConnectionError;
using client::Endpoint;
using client::Protocol;

Clock::time_point in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }
Clock::time_point in_the_end() { return in(kPatience); }

// A request of about this length, and its answer.
std::string request(int id, std::size_t length = 20) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + std::string(length, 'x') + "\"}";
}
std::string answer_to(std::string text) {
  return text.replace(text.find("method"), std::string_view("method").size(), "result");
}
const std::string kAskToClose = R"({"jsonrpc":"2.0","method":"close"})";  // ends the connection from the other side

// Each kind of server, with a connection to it.

struct OfOneServer {
  // Answers every request.
  static AcceptFunction accept() {
    return [](Peer& peer) -> ReceiveFunction {
      return [weak = peer.weak_from_this()](const Received& received) {
        const auto* const text = std::get_if<std::string_view>(&received);
        if (text == nullptr || *text == kAskToClose) return weak.lock()->close();
        weak.lock()->send(answer_to(std::string(*text)));
      };
    };
  }

  LoopThread loop;
};

template <class Transport, class Options, Protocol kProtocol, std::size_t kLongest>
struct ByPort : OfOneServer {
  static constexpr bool kInOrder = kProtocol != Protocol::kUdp;  // where what is lost is sent again
  static constexpr bool kMayLose = false;
  static constexpr std::size_t kLong = kLongest;

  std::unique_ptr<Connection> connect() { return client::connect_mcp(endpoint(), in_the_end()); }
  Endpoint endpoint() {
    const auto port = transport.call([](auto& opened) { return opened.port(); });
    return {kProtocol, "127.0.0.1", port, "/", {}, files.certificate};
  }
  Options options() {
    auto options = usual_limits<Options>();
    if constexpr (kProtocol == Protocol::kTcps || kProtocol == Protocol::kWebSockets) options.tls = &identity;
    return options;
  }

  TemporaryDirectory directory;
  CertificateFiles files = make_certificate(directory.path());
  TlsIdentity identity{{files.certificate, files.key}};
  OnLoop<Transport> transport{loop, options(), accept()};
};
constexpr std::size_t kMegabyte = 1'000'000;
// TcpConnection
using ByTcp = ByPort<TcpTransport, TcpOptions, Protocol::kTcp, kMegabyte>;
using ByTls = ByPort<TcpTransport, TcpOptions, Protocol::kTcps, kMegabyte>;
// WsConnection
using ByWebSocket = ByPort<websocket::Transport, websocket::Options, Protocol::kWebSocket, kMegabyte>;
using ByTlsWebSocket = ByPort<websocket::Transport, websocket::Options, Protocol::kWebSockets, kMegabyte>;
// RepeatingConnection, in front of a UdpConnection
using ByUdp = ByPort<UdpTransport, UdpOptions, Protocol::kUdp, 60'000>;

// UdpConnection
struct ByLossyUdp : ByUdp {
  static constexpr bool kInOrder = true;  // one at a time, since nothing that is lost is sent again
  static constexpr bool kMayLose = true;

  std::unique_ptr<Connection> connect() { return client::connect(endpoint(), in_the_end()); }
};

// Any of them, if another thread may stop it.
struct ByStoppableTcp : ByTcp {
  std::unique_ptr<Connection> connect() { return std::make_unique<StoppableConnection>(stop, ByTcp::connect()); }

  StoppableConnection::Stop stop;
};

struct ByFile : OfOneServer {
  static constexpr bool kInOrder = true;
  static constexpr bool kMayLose = false;
  static constexpr std::size_t kLong = kMegabyte;

  std::unique_ptr<Connection> connect() {
    return client::connect_mcp({Protocol::kUnix, {}, 0, directory / "socket"}, in_the_end());
  }

  TemporaryDirectory directory;
  OnLoop<UnixTransport> transport{loop, UnixOptions{directory / "socket", 0600, usual_limits<ConnectionLimits>()},
                                  accept()};
};

struct ByCommand {
  static constexpr bool kInOrder = true;
  static constexpr bool kMayLose = false;
  static constexpr std::size_t kLong = kMegabyte;

  static std::unique_ptr<Connection> connect() {
    const ServerCommand command{"sed", {"-u", R"(/"method":"close"/Q; s/method/result/)"}};
    return std::make_unique<CommandConnection>(command, [](std::string_view) {});
  }
};

template <std::unique_ptr<Connection> (*kConnect)(const Endpoint&, Clock::time_point), bool is_in_order>
struct ByHttp : OfOneServer {
  static constexpr bool kInOrder = is_in_order;
  static constexpr bool kMayLose = false;
  static constexpr std::size_t kLong = kMegabyte;

  std::unique_ptr<Connection> connect() {
    const auto port = transport.call([](auto& http) { return http.port(); });
    return kConnect({Protocol::kHttp, "127.0.0.1", port, "/mcp"}, in_the_end());
  }

  OnLoop<http::Transport> transport{loop, usual_limits<http::Options>(),
                                    http::Handler([](const http::Request& asked, http::Exchange& exchange) {
                                      exchange.respond({200, {}, "application/json", answer_to(asked.body)});
                                    }),
                                    AcceptFunction()};
};
using ByPlainHttp = ByHttp<client::connect, true>;            // PlainHttpConnection
using ByStreamableHttp = ByHttp<client::connect_mcp, false>;  // StreamableHttpConnection: a request for each message

std::vector<std::string> receive(Connection& connection, std::size_t count) {
  std::vector<std::string> messages;
  while (messages.size() < count) messages.push_back(connection.receive(in_the_end()).value());
  return messages;
}

// PlainHttpConnection, while it asks again and again for what a stream brings: nothing, until the test lets it end.
struct ByPolledHttp {
  std::unique_ptr<Connection> connect() {
    const auto port = transport.call([](auto& http) { return http.port(); });
    return client::connect({Protocol::kHttp, "127.0.0.1", port, "/"}, in_the_end());
  }
  void end_stream() {
    loop.call([this] { has_ended = true; });
  }

  LoopThread loop;
  Event is_asked;
  bool was_asked = false;  // on the loop, as is the next
  bool has_ended = false;
  OnLoop<http::Transport> transport{
      loop, usual_limits<http::Options>(), http::Handler([this](const http::Request& asked, http::Exchange& exchange) {
        std::string result = R"({"stream_id":"s1"})";
        if (asked.body.find(R"("poll")") != std::string::npos) {
          if (!std::exchange(was_asked, true)) is_asked.happen();
          result = has_ended ? R"({"chunk":{"delta":"last","end":true}})" : R"({"chunk":{"delta":"","end":false}})";
        }
        exchange.respond({200, {}, "application/json", R"({"jsonrpc":"2.0","id":1,"result":)" + result + "}"});
      }),
      AcceptFunction()};
};

}  // namespace

#define STREAM_CONNECTIONS ByTcp, ByTls, ByStoppableTcp, ByFile, ByWebSocket, ByTlsWebSocket, ByCommand

TEMPLATE_TEST_CASE("a connection carries messages whole, whatever their length, and in order if its server keeps it",
                   "", STREAM_CONNECTIONS, ByUdp, ByLossyUdp, ByPlainHttp, ByStreamableHttp) {
  TestType server;
  const auto connection = server.connect();
  std::vector<std::string> requests;
  for (int id = 0; id < 100; ++id) requests.push_back(request(id, 1 + static_cast<std::size_t>(id) % 7));
  for (int id = 100; id < 105; ++id) requests.push_back(request(id, TestType::kLong));
  const auto send = [&] {
    for (const auto& message : requests) connection->send(message);
  };
  CHECK(connection->reliable() != TestType::kMayLose);
  if (TestType::kMayLose) {  // so that nothing gets lost
    for (const auto& message : requests) {
      connection->send(message);
      CHECK((connection->receive(in_the_end()) == answer_to(message)));
    }
    return;
  }
  // At the same time, for neither side keeps so much for the other; over plain HTTP send() brings the answer.
  constexpr bool kFirst = std::is_same_v<TestType, ByPlainHttp>;
  auto sending = std::async(kFirst ? std::launch::deferred : std::launch::async, send);
  if (kFirst) sending.get();
  auto answers = receive(*connection, requests.size());
  if (!kFirst) sending.get();
  auto expected = requests;
  for (auto& message : expected) message = answer_to(message);
  if (!TestType::kInOrder) {
    std::ranges::sort(answers);
    std::ranges::sort(expected);
  }
  CHECK((answers == expected));
}

TEMPLATE_TEST_CASE("a connection from which nothing comes says so at the deadline, and goes on", "", STREAM_CONNECTIONS,
                   ByUdp, ByLossyUdp, ByPlainHttp, ByStreamableHttp) {
  TestType server;
  const auto connection = server.connect();
  CHECK_FALSE(connection->receive(in(0ms)));
  const auto deadline = in(20ms);
  CHECK_FALSE(connection->receive(deadline));
  if (!std::is_same_v<TestType, ByPlainHttp>) CHECK(std::chrono::steady_clock::now() >= deadline);
  connection->send(request(1));
  CHECK(connection->receive(in_the_end()) == answer_to(request(1)));
  CHECK_FALSE(connection->receive(in(0ms)));
}

TEMPLATE_TEST_CASE("a connection that its server ends gives what came before, and then fails, also to send", "",
                   STREAM_CONNECTIONS) {
  TestType server;
  const auto connection = server.connect();
  connection->send(request(1));
  connection->send(kAskToClose);
  CHECK(connection->receive(in_the_end()) == answer_to(request(1)));
  CHECK_THROWS_AS(connection->receive(in_the_end()), ConnectionError);
  CHECK_THROWS_AS(connection->receive(in_the_end()), ConnectionError);
  const auto deadline = in_the_end();
  const auto send_on = [&] {
    while (std::chrono::steady_clock::now() < deadline) connection->send(request(2));
  };
  CHECK_THROWS_AS(send_on(), ConnectionError);
}

TEMPLATE_TEST_CASE("a connection that is interrupted fails, for who waits and for who comes later", "",
                   STREAM_CONNECTIONS, ByUdp, ByLossyUdp, ByStreamableHttp) {
  TestType server;
  const auto connection = server.connect();
  connection->send(request(1));
  REQUIRE(connection->receive(in_the_end()));
  const auto deadline = in_the_end();
  auto waiting = std::async(std::launch::async, [&] { return connection->receive(deadline); });
  connection->interrupt();
  CHECK_THROWS_AS(waiting.get(), ConnectionError);
  connection->interrupt();
  CHECK_THROWS_AS(connection->receive(deadline), ConnectionError);
  CHECK_THROWS_AS(connection->receive(in(0ms)), ConnectionError);
  CHECK(std::chrono::steady_clock::now() < deadline);
}

TEMPLATE_TEST_CASE("a connection that is interrupted hands out no more than what had come, and then fails", "",
                   STREAM_CONNECTIONS, ByUdp, ByLossyUdp, ByStreamableHttp) {
  constexpr int kRequests = 50;
  TestType server;
  const auto connection = server.connect();
  for (int id = 0; id < kRequests; ++id) connection->send(request(id));
  REQUIRE(connection->receive(in_the_end()));
  connection->interrupt();
  const auto deadline = in_the_end();
  CHECK_THROWS_AS(receive(*connection, kRequests), ConnectionError);
  CHECK_THROWS_AS(connection->receive(deadline), ConnectionError);
  CHECK(std::chrono::steady_clock::now() < deadline);
}

TEST_CASE("a connection that nothing interrupts waits on, and hands out what comes") {
  ByPolledHttp server;
  const auto connection = server.connect();
  connection->send(request(1));
  REQUIRE(connection->receive(in_the_end()));
  auto waiting = std::async(std::launch::async, [&] { return connection->receive(in_the_end()); });
  CHECK(server.is_asked.happens());
  connection->interrupt();
  server.end_stream();
  CHECK_THAT(waiting.get().value_or("nothing"), has_text("last"));
  CHECK_FALSE(connection->receive(in(0ms)));
  connection->send(request(2));
  CHECK(connection->receive(in_the_end()));
}

}  // namespace rkllm_mcp::test
