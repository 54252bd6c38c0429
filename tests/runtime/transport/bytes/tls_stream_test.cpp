// TLS on the transports that can have it, with OpenSSL as the client.
#include "transport/bytes/tls_stream.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"
#include "support/tls_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/lines/tcp_transport.hpp"

#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// An echoing TCP server with TLS, on a loop of its own.
struct TlsEchoServer {
  explicit TlsEchoServer(const ConnectionLimits& limits = usual_limits<ConnectionLimits>())
      : files(make_certificate(directory.path())),
        identity({files.certificate, files.key}),
        tcp(loop, TcpOptions{{"127.0.0.1", 0}, limits, &identity}, echo.accept(loop)) {}

  std::uint16_t port() {
    return tcp.call([](auto& transport) { return transport.port(); });
  }
  TlsSocket::Options trusting() const { return {.trusted = files.certificate}; }
  std::shared_ptr<Peer> peer(std::size_t number) {
    REQUIRE(loop.eventually([&] { return echo.peers.size() > number; }));
    return loop.call([&] { return echo.peers[number]; });
  }
  bool is_empty() {
    return tcp.eventually([](auto& transport) { return transport.connection_count() == 0; });
  }

  TemporaryDirectory directory;
  CertificateFiles files;
  Echo echo;
  LoopThread loop;
  TlsIdentity identity;
  OnLoop<TcpTransport> tcp;
};

// In both versions of the protocol that are spoken.
std::unique_ptr<TlsSocket> connect(TlsEchoServer& server, int version = 0) {
  auto options = server.trusting();
  options.newest_version = version;
  return std::make_unique<TlsSocket>(server.port(), options);
}

}  // namespace

TEST_CASE("TLS: 1.3 and 1.2 are spoken, 1.1 is refused") {
  TlsEchoServer server;
  for (const auto& [version, name] : {std::pair(TLS1_3_VERSION, "TLSv1.3"), std::pair(TLS1_2_VERSION, "TLSv1.2")}) {
    const auto client = connect(server, version);
    CHECK(client->version() == name);
    client->send("{hello}\n");
    CHECK(client->receive_until("\n") == "{hello}\n");
  }
  CHECK_THROWS_WITH(connect(server, TLS1_1_VERSION), has_text("alert protocol version"));
  CHECK(server.is_empty());
}

TEST_CASE("TLS: a client that trusts somebody else does not connect, and the server goes on") {
  TlsEchoServer server;
  const auto other = make_certificate(server.directory.path(), "other");
  CHECK_THROWS_WITH(TlsSocket(server.port(), {.trusted = other.certificate}), has_text("verify failed"));
  const auto client = connect(server);
  client->send("{hello}\n");
  CHECK(client->receive_until("\n") == "{hello}\n");
}

TEST_CASE("TLS: what is no handshake is closed, and no message of it is taken") {
  TlsEchoServer server;
  for (const std::string& garbage :
       {std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string(100'000, '\0'), std::string("\x16\x03\x01\xff\xff"), std::string("\x80\x2e\x01\x00\x02", 5)}) {
    RawSocket client(server.port());
    client.send_some(garbage);
    client.finish_sending();
    CHECK(client.ends());
  }
  CHECK(server.is_empty());
  CHECK(server.loop.call([&] { return server.echo.messages.empty(); }));
}

TEST_CASE("TLS: a handshake that takes too long is cut off, however many bytes trickle in") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.tls_handshake = 300ms;
  TlsEchoServer server(limits);
  RawSocket silent(server.port());
  RawSocket trickling(server.port());
  trickling.send(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));  // the start of a ClientHello
  const auto begun = std::chrono::steady_clock::now();
  for (int sent = 0; sent < 10; ++sent) {
    CHECK(trickling.is_silent_for(10ms));
    trickling.send_some(std::string(1, '\1'));
  }
  CHECK(trickling.receive_rest() == "");
  CHECK(silent.receive_rest() == "");
  CHECK(std::chrono::steady_clock::now() - begun >= 250ms);
  CHECK(server.is_empty());
  // Who has shaken hands may rest for longer.
  const auto client = connect(server);
  // The handshakes are OpenSSL's, on a thread and a clock of its own: so this takes the time that it takes.
  const Event later;
  asio::steady_timer timer(server.loop.io(), 400ms);
  timer.async_wait([later](const std::error_code&) { later.happen(); });
  REQUIRE(later.happens());
  client->send("{still there}\n");
  CHECK(client->receive_until("\n") == "{still there}\n");
}

TEST_CASE("TLS: large messages arrive whole in both directions") {
  TlsEchoServer server;
  for (const int version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
    const auto client = connect(server, version);
    std::string message = "[";
    for (int number = 0; message.size() < 3'000'000; ++number) message += std::to_string(number) + ",";
    message += "\n";
    client->send(message);
    CHECK(client->receive_until("\n") == message);
  }
}

TEST_CASE("TLS: the end of the input is the client's close_notify, and the answer ends with the server's") {
  TlsEchoServer server;
  for (const int version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
    const auto client = connect(server, version);
    client->send("{one}\ntwo");
    client->send_close_notify();
    CHECK(client->receive_rest() == "{one}\ntwo\n");
    CHECK(client->end() == TlsSocket::End::kNotified);
  }
  CHECK(server.is_empty());
}

TEST_CASE(
    "TLS: what is queued when the server closes arrives, to the last byte and to close_notify, late as it may be") {
  constexpr std::size_t kMessages = 100'000;
  TlsEchoServer server;
  auto options = server.trusting();
  options.receive_buffer = 4096;
  TlsSocket client(server.port(), options);
  const auto peer = server.peer(0);
  server.loop.call([&] {
    for (std::size_t number = 0; number < kMessages; ++number) peer->send(Flood::message(number));
    peer->close();
  });
  std::string expected;
  for (std::size_t number = 0; number < kMessages; ++number) expected += Flood::message(number) + "\n";
  CHECK(client.receive_rest() == expected);
  CHECK(client.end() == TlsSocket::End::kNotified);
  client.close();
  CHECK(server.is_empty());
}

TEST_CASE("TLS: a connection that is cut is no end of input") {
  TlsEchoServer server;
  auto client = connect(server);
  const auto peer = server.peer(0);
  client->send("{one}\n");
  CHECK(client->receive_until("\n") == "{one}\n");
  client->close();
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
  CHECK(server.loop.call([&] { return server.echo.messages; }) == std::vector<std::string>{"{one}"});
}

TEST_CASE("TLS: a client that disconnects while it is written to is noticed") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.send_queue_bytes = 64 * 1024;  // so that the flood itself takes little time in each pass of the loop
  TlsEchoServer server(limits);
  auto client = connect(server);
  const auto peer = server.peer(0);
  const Event gone;
  server.loop.call([&] {
    peer->when_closed([gone] { gone.happen(); });
    Flood::start(*peer, 1'000'000'000);
  });
  client->receive_until("\n");
  SECTION("without a word") {}
  SECTION("with close_notify") { client->send_close_notify(); }
  client->close();
  CHECK(gone.happens());
}

TEST_CASE("TLS: a client that takes nothing is closed, and slows nobody") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.stall = 500ms;
  limits.send_queue_bytes = 64 * 1024;
  TlsEchoServer server(limits);
  auto options = server.trusting();
  options.receive_buffer = 4096;
  TlsSocket stalled(server.port(), options);
  const auto peer = server.peer(0);
  server.loop.call([&] { Flood::start(*peer, 1'000'000'000); });
  stalled.receive_until("\n");
  const auto other = connect(server);
  for (int number = 0; number < 100; ++number) {
    const std::string message = Flood::message(static_cast<std::size_t>(number)) + "\n";
    other->send(message);
    CHECK(other->receive_until("\n") == message);
  }
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
}

TEST_CASE("TLS: new connections get the renewed certificate, open ones go on") {
  TlsEchoServer server;
  const auto before = connect(server);
  CHECK(before->server_name() == "server");
  const auto renewed = make_certificate(server.directory.path(), "renewed");
  server.loop.call([&] { server.identity.replace({renewed.certificate, renewed.key}); });
  TlsSocket after(server.port(), {.trusted = renewed.certificate});
  CHECK(after.server_name() == "renewed");
  for (TlsSocket* client : {before.get(), &after}) {
    client->send("{hello}\n");
    CHECK(client->receive_until("\n") == "{hello}\n");
  }
}
