#include "transport/udp/udp_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "jsonrpc/reply.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

class UdpClient {
 public:
  // `from`: one of this machine's own IPv4 addresses.
  explicit UdpClient(std::uint16_t port, const char* from = "127.0.0.1")
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    REQUIRE(::inet_pton(AF_INET, from, &own.sin_addr) == 1);
    REQUIRE(::bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  UdpClient(const UdpClient&) = delete;
  UdpClient& operator=(const UdpClient&) = delete;
  ~UdpClient() { close(); }

  void send(std::string_view message) const {
    REQUIRE(::send(socket_, message.data(), message.size(), 0) == static_cast<ssize_t>(message.size()));
  }
  std::optional<std::string> receive(int milliseconds = 20'000) const {
    pollfd state{socket_, POLLIN, 0};
    if (::poll(&state, 1, milliseconds) != 1) return std::nullopt;
    std::string message(65'536, '\0');
    const auto bytes = ::recv(socket_, message.data(), message.size(), 0);
    if (bytes < 0) return std::nullopt;
    message.resize(static_cast<std::size_t>(bytes));
    return message;
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
};

struct UdpEchoServer {
  explicit UdpEchoServer(const UdpOptions& options = usual_limits<UdpOptions>())
      : udp(loop, options, echo.accept(loop)) {}
  std::uint16_t port() {
    return udp.call([](auto& transport) { return transport.port(); });
  }

  Echo echo;
  LoopThread loop;
  OnLoop<UdpTransport> udp;
};

}  // namespace

TEST_CASE("UDP: one datagram is one message, up to the largest that exists") {
  UdpEchoServer server;
  const UdpClient client(server.port());
  for (const auto& message : {std::string("hello"), std::string("two\nlines"), std::string(65'507, 'x')}) {
    client.send(message);
    CHECK(client.receive() == message);
  }
  CHECK(server.loop.call([&] { return server.echo.peers.size(); }) == 1);
  server.loop.call([&] {
    CHECK(server.echo.peers[0]->facts().max_message_bytes == 65'507);
    CHECK(server.echo.peers[0]->facts().preferred_chunk_bytes == 1'200);
  });
}

TEST_CASE("UDP: a datagram beyond the limit is reported as oversized") {
  auto options = usual_limits<UdpOptions>();
  options.max_message_bytes = 1000;
  UdpEchoServer server(options);
  const UdpClient client(server.port());
  client.send(std::string(1001, 'x'));
  CHECK(client.receive() == "oversized, limit 1000");
  client.send(std::string(1000, 'x'));
  CHECK(client.receive() == std::string(1000, 'x'));
}

TEST_CASE("UDP: bursts from many clients are all received") {
  UdpEchoServer server;
  std::vector<std::unique_ptr<UdpClient>> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(std::make_unique<UdpClient>(server.port()));
  for (std::size_t i = 0; i < clients.size(); ++i) clients[i]->send(std::to_string(i));
  for (std::size_t i = 0; i < clients.size(); ++i) CHECK(clients[i]->receive() == std::to_string(i));
  CHECK(server.udp.call([](auto& udp) { return udp.connection_count(); }) == 200);
}

TEST_CASE("UDP: a stream is paced, and arrives in order") {
  UdpEchoServer server;
  const UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  // So many fit into the client's buffer, however late the system lets it read.
  constexpr std::size_t kCount = 250;
  const auto start = std::chrono::steady_clock::now();
  server.loop.call([&] { Flood::start(*server.echo.peers[0], kCount); });
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto message = client.receive();
    if (message != Flood::message(i)) FAIL("datagram " << i << " is " << message.value_or("missing"));
  }
  // 32 a millisecond: the first burst at once, the others one tick after the other.
  CHECK(std::chrono::steady_clock::now() - start >= 6ms);
}

TEST_CASE("UDP: replies wait their turn and are dropped only beyond the queue's limit") {
  auto options = usual_limits<UdpOptions>();
  options.send_queue_bytes = 1000;
  UdpEchoServer server(options);
  const UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  server.loop.call([&] {
    for (int i = 0; i < 200; ++i) server.echo.peers[0]->send(std::string(100, 'x'));
    CHECK_FALSE(server.echo.peers[0]->ready());
  });
  int received = 0;
  while (client.receive(500)) ++received;
  // At least what a burst and the queue hold together, less what the echo had used of the burst.
  CHECK(received >= 31 + 10);
  CHECK(received <= 32 + 10);
}

TEST_CASE("UDP: a silent peer is forgotten") {
  auto options = usual_limits<UdpOptions>();
  options.idle = 100ms;
  UdpEchoServer server(options);
  const UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
  CHECK(server.udp.call([](auto& udp) { return udp.connection_count(); }) == 0);
  client.send("again");
  CHECK(client.receive() == "again");
  CHECK(server.loop.call([&] { return server.echo.peers.size(); }) == 2);
}

TEST_CASE("UDP: the peer that has been silent for longest makes room for a new one") {
  auto options = usual_limits<UdpOptions>();
  options.max_peers = 2;
  UdpEchoServer server(options);
  const UdpClient first(server.port());
  const UdpClient second(server.port());
  const UdpClient third(server.port());
  for (const auto* client : {&first, &second, &first, &third}) {
    client->send("hello");
    REQUIRE(client->receive() == "hello");
  }
  server.loop.call([&] {
    CHECK_FALSE(server.echo.peers[0]->closed());
    CHECK(server.echo.peers[1]->closed());
    CHECK_FALSE(server.echo.peers[2]->closed());
  });
  CHECK(server.udp.call([](auto& udp) { return udp.connection_count(); }) == 2);
}

TEST_CASE("UDP: who has not proved itself is sent three times what it sent, and one short message more") {
  auto options = usual_limits<UdpOptions>();
  options.loopback_is_proof = false;
  UdpEchoServer server(options);
  const UdpClient client(server.port());
  client.send(std::string(100, 'x'));
  REQUIRE(client.receive() == std::string(100, 'x'));
  const auto send = [&](std::size_t bytes) {
    server.loop.call([&] { server.echo.peers[0]->send(std::string(bytes, 'y')); });
  };
  send(3 * 100 + 256 - 100 + 1);  // a byte too much
  send(3 * 100 + 256 - 100);
  send(1);
  send(0);  // where nothing more is allowed, nothing is what arrives
  CHECK(client.receive() == std::string(456, 'y'));
  CHECK(client.receive() == "");
  // What it sends later counts too.
  client.send("1234");
  CHECK(client.receive() == "1234");
  send(9);
  send(8);
  CHECK(client.receive() == std::string(8, 'y'));
  server.loop.call([&] { server.echo.peers[0]->prove(); });
  send(60'000);
  CHECK(client.receive() == std::string(60'000, 'y'));
  // Its proof is nobody else's.
  const UdpClient other(server.port());
  other.send("x");
  REQUIRE(other.receive() == "x");
  server.loop.call([&] { server.echo.peers[1]->send(std::string(259, 'y')); });
  server.loop.call([&] { server.echo.peers[1]->send(std::string(258, 'z')); });
  CHECK(other.receive() == std::string(258, 'z'));
}

TEST_CASE("UDP: who has proved itself is not pushed out by those who have not") {
  auto options = usual_limits<UdpOptions>();
  options.max_peers = 2;
  options.loopback_is_proof = false;
  UdpEchoServer server(options);
  const UdpClient known(server.port());
  known.send("hello");
  REQUIRE(known.receive() == "hello");
  server.loop.call([&] { server.echo.peers[0]->prove(); });
  for (std::size_t i = 1; i <= 3; ++i) {
    const UdpClient stranger(server.port());
    stranger.send("hello");
    REQUIRE(stranger.receive() == "hello");
    server.loop.call([&] {
      CHECK(server.echo.peers.size() == i + 1);
      CHECK_FALSE(server.echo.peers[0]->closed());
    });
  }
}

TEST_CASE("UDP: a client that has gone is noticed when something is sent to it") {
  UdpEchoServer server;
  UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  const Event gone;
  client.close();
  server.loop.call([&] {
    server.echo.peers[0]->when_closed([gone] { gone.happen(); });
    server.echo.peers[0]->send("anybody there?");
  });
  CHECK(gone.happens());
  // Its absence must not disturb others.
  const UdpClient other(server.port());
  other.send("hello");
  CHECK(other.receive() == "hello");
}

TEST_CASE("UDP: closing all sends what is queued first") {
  UdpEchoServer server;
  const UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  server.loop.call([&] {
    for (std::size_t i = 0; i < 100; ++i) server.echo.peers[0]->send(Flood::message(i));
  });
  server.udp.call([](auto& udp) {
    udp.stop();
    udp.close_all();
  });
  for (std::size_t i = 0; i < 100; ++i) CHECK(client.receive() == Flood::message(i));
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
}

TEST_CASE("UDP: aborting all forgets the peers, and lets go of what waits for them") {
  UdpEchoServer server;
  const UdpClient client(server.port());
  client.send("hello");
  REQUIRE(client.receive() == "hello");
  std::weak_ptr<Flood> flood;
  server.udp.call([&](auto& udp) {
    flood = Flood::start(*server.echo.peers[0], 10'000'000);
    udp.abort_all();
    CHECK(udp.connection_count() == 0);
  });
  CHECK(server.echo.closed == 1);
  CHECK(flood.expired());
}

TEST_CASE("UDP: a port in use is an error that names the transport and the address") {
  UdpEchoServer server;
  const auto port = server.port();
  LoopThread loop;
  auto options = usual_limits<UdpOptions>();
  options.listen.port = port;
  try {
    OnLoop<UdpTransport> again(loop, options, accept_nobody);
    FAIL("opened twice");
  } catch (const ListenError& error) {
    CHECK(error.what() == "udp: cannot listen on 127.0.0.1:" + std::to_string(port) +
                              ": address already in use by process " + std::to_string(::getpid()) +
                              " (test_transport)");
  }
}

TEST_CASE("UDP: what one client makes the layer above throw makes that client forgotten and nothing else") {
  UdpEchoServer server;
  server.loop.expect_faults();
  const UdpClient other(server.port());
  other.send("before");
  CHECK(other.receive() == "before");
  server.loop.call([&] { server.echo.throws_at_accept = true; });
  const UdpClient guilty(server.port());
  guilty.send("lost");
  CHECK(server.loop.has_faults(1));
  guilty.send("hello");
  CHECK(guilty.receive() == "hello");
  guilty.send("{fault}");
  CHECK(server.loop.has_faults(2));
  CHECK(server.udp.call([](auto& udp) { return udp.connection_count(); }) == 1);
  guilty.send("again");
  CHECK(guilty.receive() == "again");
  other.send("still here");
  CHECK(other.receive() == "still here");
}

TEST_CASE("UDP: newcomers push out who is idle, but nobody who waits for an answer") {
  auto options = usual_limits<UdpOptions>();
  options.max_peers = 8;
  UdpEchoServer server(options);
  const UdpClient waiting(server.port());
  waiting.send("a request");
  CHECK(waiting.receive() == "a request");
  const auto peer = server.loop.call([&] { return server.echo.peers[0]; });
  server.loop.call([&] { peer->answer().expected(); });
  for (int i = 0; i < 700; ++i) {
    const UdpClient newcomer(server.port());
    newcomer.send("hello");
    REQUIRE(newcomer.receive() == "hello");
  }
  server.loop.call([&] {
    CHECK_FALSE(peer->closed());
    peer->answer().last("the answer", std::nullopt);
  });
  CHECK(waiting.receive() == "the answer");
  CHECK(server.udp.call([](auto& udp) { return udp.connection_count(); }) == 8);

  // Where everybody waits, newcomers find no place until one has been answered.
  server.loop.call([&] {
    for (const auto& each : server.echo.peers) each->answer().expected();
  });
  const UdpClient newcomer(server.port());
  newcomer.send("lost");
  waiting.send("known");
  CHECK(waiting.receive() == "known");  // and what came before it has been seen
  server.loop.call([&] {
    for (const auto& each : server.echo.peers) each->answer().none();
  });
  newcomer.send("now");
  CHECK(newcomer.receive() == "now");
}

TEST_CASE(
    "UDP: who waits for an answer is not pushed out because something else of its has been answered or passed over") {
  auto options = usual_limits<UdpOptions>();
  options.max_peers = 2;
  UdpEchoServer server(options);
  const UdpClient waiting(server.port());
  waiting.send("a request");
  CHECK(waiting.receive() == "a request");
  const auto peer = server.loop.call([&] { return server.echo.peers[0]; });
  std::shared_ptr<Reply> reply;
  server.loop.call([&] {
    reply = std::make_shared<Reply>(peer->answer(), "1");
    Reply::unanswered(peer->answer()).nothing();  // a notification, say
    Reply(peer->answer(), "2").last("refused");
  });
  CHECK(waiting.receive() == "refused");
  for (int i = 0; i < 4; ++i) {
    const UdpClient newcomer(server.port());
    newcomer.send("hello");
    REQUIRE(newcomer.receive() == "hello");
  }
  server.loop.call([&] {
    CHECK_FALSE(peer->closed());
    reply->last("the answer");
    reply = nullptr;
  });
  CHECK(waiting.receive() == "the answer");
}

TEST_CASE("UDP: an address at its limit pushes out one of its own, and nobody else, also where the table is full") {
  auto options = usual_limits<UdpOptions>();
  options.max_peers = 3;
  options.max_peers_per_address = 2;
  UdpEchoServer server(options);
  const UdpClient other(server.port(), "127.0.0.2");
  other.send("hello");
  REQUIRE(other.receive() == "hello");
  std::vector<std::unique_ptr<UdpClient>> neighbours;
  for (int i = 0; i < 3; ++i) {
    neighbours.push_back(std::make_unique<UdpClient>(server.port()));
    neighbours.back()->send("hello");
    REQUIRE(neighbours.back()->receive() == "hello");
  }
  server.loop.call([&] {
    REQUIRE(server.echo.peers.size() == 4);
    CHECK_FALSE(server.echo.peers[0]->closed());
    CHECK(server.echo.peers[1]->closed());
    CHECK_FALSE(server.echo.peers[2]->closed());
    CHECK_FALSE(server.echo.peers[3]->closed());
  });
}
