// What client/connection.hpp promises, held against every kind of connection, over real sockets, with this project's
// own transports as the servers. (Here, since a server that is started by a command is one of the kinds.)
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
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::chrono_literals;
using client::Connection;
using client::ConnectionError;
using client::Endpoint;
using client::Protocol;

client::Deadline in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }
client::Deadline in_the_end() { return in(kPatience); }

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
  static constexpr std::size_t kLong = kLongest;

  std::unique_ptr<Connection> connect() {
    const auto port = transport.call([](auto& opened) { return opened.port(); });
    return client::connect_mcp({kProtocol, "127.0.0.1", port, "/", {}, files.certificate}, in_the_end());
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
using ByTcp = ByPort<TcpTransport, TcpOptions, Protocol::kTcp, kMegabyte>;
using ByTls = ByPort<TcpTransport, TcpOptions, Protocol::kTcps, kMegabyte>;
using ByWebSocket = ByPort<websocket::Transport, websocket::Options, Protocol::kWebSocket, kMegabyte>;
using ByTlsWebSocket = ByPort<websocket::Transport, websocket::Options, Protocol::kWebSockets, kMegabyte>;
using ByUdp = ByPort<UdpTransport, UdpOptions, Protocol::kUdp, 60'000>;

// Any of them, if another thread may stop it.
struct ByStoppableTcp : ByTcp {
  std::unique_ptr<Connection> connect() { return std::make_unique<StoppableConnection>(stop, ByTcp::connect()); }

  StoppableConnection::Stop stop;
};

struct ByFile : OfOneServer {
  static constexpr bool kInOrder = true;
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
  static constexpr std::size_t kLong = kMegabyte;

  static std::unique_ptr<Connection> connect() {
    const ServerCommand command{"sed", {"-u", R"(/"method":"close"/Q; s/method/result/)"}};
    return std::make_unique<CommandConnection>(command, [](std::string_view) {});
  }
};

template <std::unique_ptr<Connection> (*kConnect)(const Endpoint&, client::Deadline), bool is_in_order>
struct ByHttp : OfOneServer {
  static constexpr bool kInOrder = is_in_order;
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
using ByPlainHttp = ByHttp<client::connect, true>;
using ByStreamableHttp = ByHttp<client::connect_mcp, false>;  // each message is a request of its own

std::vector<std::string> receive(Connection& connection, std::size_t count) {
  std::vector<std::string> messages;
  while (messages.size() < count) messages.push_back(connection.receive(in_the_end()).value());
  return messages;
}

}  // namespace

#define STREAM_CONNECTIONS ByTcp, ByTls, ByStoppableTcp, ByFile, ByWebSocket, ByTlsWebSocket, ByCommand

TEMPLATE_TEST_CASE("a connection carries messages whole, whatever their length, and in order if its server keeps it",
                   "", STREAM_CONNECTIONS, ByUdp, ByPlainHttp, ByStreamableHttp) {
  TestType server;
  const auto connection = server.connect();
  std::vector<std::string> requests;
  for (int id = 0; id < 100; ++id) requests.push_back(request(id, 1 + static_cast<std::size_t>(id) % 7));
  for (int id = 100; id < 105; ++id) requests.push_back(request(id, TestType::kLong));
  const auto send = [&] {
    for (const auto& message : requests) connection->send(message);
  };
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
                   ByUdp, ByPlainHttp, ByStreamableHttp) {
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
                   STREAM_CONNECTIONS, ByUdp, ByStreamableHttp) {
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
                   STREAM_CONNECTIONS, ByUdp, ByStreamableHttp) {
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

}  // namespace rkllm_mcp::test
