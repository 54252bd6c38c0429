#include "transport/lines/tcp_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"

#include <asio/post.hpp>

#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// An echoing TCP server on a loop of its own.
struct TcpEchoServer {
  explicit TcpEchoServer(const ConnectionLimits& limits = usual_limits<ConnectionLimits>(),
                         const std::string& address = "127.0.0.1")
      : tcp(loop, TcpOptions{{address, 0}, limits}, echo.accept(loop)) {}

  std::uint16_t port() {
    return tcp.call([](auto& transport) { return transport.port(); });
  }
  std::shared_ptr<Peer> peer(std::size_t number) {
    REQUIRE(loop.eventually([&] { return echo.peers.size() > number; }));
    return loop.call([&] { return echo.peers[number]; });
  }
  bool closes(std::size_t count) {
    return loop.eventually([&] { return echo.closed == count; });
  }

  Echo echo;
  LoopThread loop;
  OnLoop<TcpTransport> tcp;
};

}  // namespace

TEST_CASE("TCP: messages arrive whole however they are packed") {
  TcpEchoServer server;
  RawSocket client(server.port());
  SECTION("several in one packet") { client.send("{one}\ntwo\r\n\nthree\n"); }
  SECTION("one in three packets") {
    for (const auto* piece : {"{o", "n", "e}\ntwo\nthr"}) client.send(piece);
    client.send("ee\n");
  }
  SECTION("byte by byte") {
    for (const char c : std::string("{one}\ntwo\r\nthree\n")) client.send(std::string(1, c));
  }
  CHECK(client.receive_line() == "{one}");
  CHECK(client.receive_line() == "two");
  CHECK(client.receive_line() == "three");
}

TEST_CASE("TCP: IPv6 works like IPv4") {
  TcpEchoServer server(usual_limits<ConnectionLimits>(), "::1");
  RawSocket client(server.port(), RawSocket::kUsualBuffer, "::1");
  client.send("{hello}\n");
  CHECK(client.receive_line() == "{hello}");
  CHECK(server.peer(0)->facts().address.substr(0, 6) == "[::1]:");
}

TEST_CASE("TCP: an oversized message is reported and the connection goes on") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.max_message_bytes = 1000;
  TcpEchoServer server(limits);
  RawSocket client(server.port());
  client.send(std::string(1000, '{') + "\n" + std::string(100'000, 'y') + "\nafter\n");
  CHECK(client.receive_line() == std::string(1000, '{'));
  CHECK(client.receive_line() == "oversized, limit 1000");
  CHECK(client.receive_line() == "after");
}

TEST_CASE("TCP: what is unfinished when the client stops sending is answered before the connection closes") {
  TcpEchoServer server;
  RawSocket client(server.port());
  client.send("{one}\ntwo");
  client.finish_sending();
  CHECK(client.receive_rest() == "{one}\ntwo\n");
  CHECK(server.loop.call([&] { return server.echo.messages; }) == std::vector<std::string>{"{one}", "two", "end"});
  CHECK(server.tcp.eventually([](auto& tcp) { return tcp.connection_count() == 0; }));
}

TEST_CASE("TCP: what else the loop has to do comes between the lines that one client sends at once") {
  std::size_t handled = 0;
  std::size_t handled_at_its_turn = 0;
  const Event all;
  LoopThread loop;
  const AcceptFunction accept = [&](Peer&) -> ReceiveFunction {
    return [&](const Received& what) {
      if (!std::holds_alternative<std::string_view>(what)) return;
      CHECK(std::get<std::string_view>(what) == "{" + std::to_string(handled) + "}");
      if (handled == 0) asio::post(loop.io(), [&] { handled_at_its_turn = handled; });
      if (++handled == 5000) all.happen();
    };
  };
  OnLoop<TcpTransport> tcp(loop, usual_limits<TcpOptions>(), accept);
  RawSocket client(tcp.call([](auto& transport) { return transport.port(); }));
  std::string together;
  for (int each = 0; each < 5000; ++each) together += "{" + std::to_string(each) + "}\n";
  client.send(together);
  REQUIRE(all.happens());
  const auto counted = loop.call([&] { return handled_at_its_turn; });
  CHECK(counted > 0);
  CHECK(counted <= 16);
}

TEST_CASE("TCP: that a client has gone is noticed while the layer above has enough to do, and lines wait behind") {
  const Event received;
  const Event gone;
  std::shared_ptr<Peer> busy;
  LoopThread loop;
  loop.before_end([&] { busy = nullptr; });
  const AcceptFunction accept = [&](Peer& peer) -> ReceiveFunction {
    busy = peer.shared_from_this();
    peer.when_closed([gone] { gone.happen(); });
    return [&, received](const Received& what) {
      if (!std::holds_alternative<std::string_view>(what)) return;
      busy->hold_input();
      received.happen();
    };
  };
  OnLoop<TcpTransport> tcp(loop, usual_limits<TcpOptions>(), accept);
  {
    RawSocket client(tcp.call([](auto& transport) { return transport.port(); }));
    client.send("{long}\n{other}\n");
    REQUIRE(received.happens());
  }
  CHECK(gone.happens());
}

TEST_CASE(
    "TCP: a message that is held and resumed at once, behind the end of the input, loses none of those behind it") {
  constexpr int kLines = 5000;  // of many turns
  int handled = 0;
  int handled_at_end = 0;
  const Event ended;
  LoopThread loop;
  const AcceptFunction accept = [&](Peer& peer) -> ReceiveFunction {
    return [&](const Received& what) {
      if (std::holds_alternative<EndOfInput>(what)) {
        handled_at_end = handled;
        return ended.happen();
      }
      ++handled;
      peer.hold_input();
      peer.resume_input();
    };
  };
  OnLoop<TcpTransport> tcp(loop, usual_limits<TcpOptions>(), accept);
  RawSocket client(tcp.call([](auto& transport) { return transport.port(); }));
  std::string together;
  for (int each = 0; each < kLines; ++each) together += "{" + std::to_string(each) + "}\n";
  client.send(together);
  client.finish_sending();
  REQUIRE(ended.happens());
  CHECK(loop.call([&] { return handled_at_end; }) == kLines);
}

TEST_CASE("TCP: a connection that begins with another protocol is told so once, and nothing of it is executed") {
  const std::string body = "Content-Type: text/plain\r\n\r\n{\"method\":\"rkllm_destroy\"}\n{}\n";
  for (const std::string start :
       {"POST / HTTP/1.1\r\n", "patch / HTTP/1.1\r\n", "FOO /\r\n", "\r\n  PROPFIND * HTTP/1.1\r\n",
        "\x16\x03\x01\x02\x00\n", "\xEF\xBB\xBF{}\n", "hello\n"}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
      INFO(start << " in pieces of " << piece);
      TcpEchoServer server;
      RawSocket client(server.port());
      const std::string bytes = start + body;
      for (std::size_t at = 0; at < bytes.size(); at += piece) client.send_some(bytes.substr(at, piece));
      CHECK(client.receive_rest() == "another protocol\n");
      client.close();
      CHECK(server.closes(1));
      CHECK(server.loop.call([&] { return server.echo.messages.empty(); }));
    }
  }
}

TEST_CASE("TCP: later lines may be anything: they are whole messages already") {
  TcpEchoServer server;
  RawSocket client(server.port());
  client.send("\r\n \t{}\nPOST / HTTP/1.1\r\n");
  CHECK(client.receive_line() == "{}");
  CHECK(client.receive_line() == "POST / HTTP/1.1");
}

TEST_CASE("TCP: a client that disconnects is noticed") {
  TcpEchoServer server;
  RawSocket client(server.port());
  const auto peer = server.peer(0);
  const Event gone;
  server.loop.call([&] { peer->when_closed([gone] { gone.happen(); }); });
  SECTION("by a reset, while nothing is being written") { client.reset(); }
  SECTION("by closing while a stream is written to it") {
    server.loop.call([&] { Flood::start(*peer, 1'000'000'000); });
    client.close();
  }
  CHECK(gone.happens());
}

TEST_CASE("TCP: a reset is noticed even after the client had stopped sending and while nothing is being written") {
  const Event ended;
  const Event gone;
  // A layer above that still has something in flight: it does not close at the end of the input.
  const AcceptFunction accept = [&](Peer& peer) -> ReceiveFunction {
    peer.when_closed([gone] { gone.happen(); });
    return [ended](const Received& received) {
      if (std::holds_alternative<EndOfInput>(received)) ended.happen();
    };
  };
  LoopThread loop;
  OnLoop<TcpTransport> tcp(loop, usual_limits<TcpOptions>(), accept);
  RawSocket client(tcp.call([](auto& transport) { return transport.port(); }));
  client.finish_sending();
  REQUIRE(ended.happens());
  loop.call([] {});  // what the end of the input brings about has come when the loop takes the next thing
  CHECK_FALSE(gone.happens_within(0ms));
  client.reset();
  CHECK(gone.happens());
}

TEST_CASE("TCP: closing writes what is queued first, and drops what is sent afterwards") {
  TcpEchoServer server;
  RawSocket client(server.port());
  const auto peer = server.peer(0);
  const std::string large(3'000'000, 'x');
  server.loop.call([&] {
    peer->send(large);
    peer->close();
    CHECK(peer->closed());
    peer->send("too late");
  });
  CHECK(client.receive_rest() == large + "\n");
  CHECK(server.closes(1));
}

TEST_CASE("TCP: 20,000 messages arrive complete and in order") {
  TcpEchoServer server;
  RawSocket client(server.port());
  const auto peer = server.peer(0);
  server.loop.call([&] { Flood::start(*peer, 20'000); });
  for (std::size_t i = 0; i < 20'000; ++i) {
    const auto line = client.receive_line();
    if (line != Flood::message(i)) FAIL("message " << i << " is " << line);
  }
}

TEST_CASE("TCP: a reader that does not read stops its own stream only, and is closed after the stall time") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.send_queue_bytes = 64 * 1024;
  limits.kernel_send_bytes = 16 * 1024;
  limits.stall = 300ms;
  TcpEchoServer server(limits);
  RawSocket slow(server.port(), 4096);
  const auto slow_peer = server.peer(0);
  std::shared_ptr<Flood> flood;
  server.loop.call([&] { flood = Flood::start(*slow_peer, 1'000'000'000); });
  REQUIRE(server.loop.eventually([&] { return !slow_peer->ready(); }));

  RawSocket other(server.port());
  for (int i = 0; i < 100; ++i) {
    other.send("{still here}\n");
    REQUIRE(other.receive_line() == "{still here}");
  }
  // Queue, kernel buffers of both sides, and no more than that.
  CHECK(server.loop.call([&] { return flood->sent() * Flood::message(10'000).size(); }) < 1'000'000);
  CHECK(server.closes(1));
  CHECK(slow_peer->closed());
  other.send("{still here}\n");
  CHECK(other.receive_line() == "{still here}");
}

TEST_CASE("TCP: who asks without reading answers is not read any more") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.send_queue_bytes = 64 * 1024;
  TcpEchoServer server(limits);
  RawSocket client(server.port());
  const std::string line = std::string(999, '{') + "\n";
  std::string megabyte;
  for (int i = 0; i < 1000; ++i) megabyte += line;
  std::size_t taken = 0;
  for (int i = 0; i < 64; ++i) {
    const auto part = client.send_some(megabyte, 200ms);
    taken += part;
    if (part < megabyte.size()) break;
  }
  CHECK(taken < 40'000'000);
  // Reading sets everything in motion again.
  client.finish_sending();
  const auto answers = client.receive_rest();
  CHECK(answers.size() >= taken);
}

TEST_CASE("TCP: an idle connection is closed if that is asked for") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.idle = 100ms;
  TcpEchoServer server(limits);
  RawSocket client(server.port());
  client.send("{hello}\n");
  CHECK(client.receive_line() == "{hello}");
  CHECK(client.receive_rest() == "");
  CHECK(server.closes(1));
}

TEST_CASE("TCP: connections beyond the limit are closed, and room is made when one ends") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.max_connections = 2;
  TcpEchoServer server(limits);
  RawSocket first(server.port());
  RawSocket second(server.port());
  server.peer(1);
  RawSocket third(server.port());
  CHECK(third.receive_rest() == "");
  first.close();
  REQUIRE(server.tcp.eventually([](auto& tcp) { return tcp.connection_count() == 1; }));
  RawSocket fourth(server.port());
  fourth.send("{hello}\n");
  CHECK(fourth.receive_line() == "{hello}");
}

TEST_CASE("TCP: a port in use is an error that names the transport and the address") {
  TcpEchoServer server;
  const auto port = server.port();
  LoopThread loop;
  const auto open = [&] {
    OnLoop<TcpTransport> again(loop, TcpOptions{{"127.0.0.1", port}, usual_limits<ConnectionLimits>()}, accept_nobody);
  };
  try {
    open();
    FAIL("opened twice");
  } catch (const ListenError& error) {
    CHECK(error.what() == "tcp: cannot listen on 127.0.0.1:" + std::to_string(port) +
                              ": address already in use by process " + std::to_string(::getpid()) +
                              " (test_transport)");
    CHECK(error.where().port == port);
  }
}

TEST_CASE("TCP: an address that is none is an error that says so") {
  LoopThread loop;
  CHECK_THROWS_AS(
      OnLoop<TcpTransport>(loop, TcpOptions{{"nowhere", 1}, usual_limits<ConnectionLimits>()}, accept_nobody),
      ListenError);
}

TEST_CASE("TCP: stopping frees the port and leaves the clients, closing all flushes and ends them") {
  TcpEchoServer server;
  const auto port = server.port();
  RawSocket client(port);
  server.peer(0);
  server.tcp.call([](auto& tcp) { tcp.stop(); });
  CHECK_THROWS(RawSocket(port));
  client.send("{hello}\n");
  CHECK(client.receive_line() == "{hello}");
  server.loop.call([&] { server.echo.peers[0]->send("goodbye"); });
  server.tcp.call([](auto& tcp) { tcp.close_all(); });
  CHECK(client.receive_rest() == "goodbye\n");
  CHECK(server.tcp.eventually([](auto& tcp) { return tcp.connection_count() == 0; }));
}

TEST_CASE("TCP: aborting all ends a client that does not read, and lets go of what waits for it") {
  TcpEchoServer server;
  RawSocket client(server.port());
  const auto peer = server.peer(0);
  std::weak_ptr<Flood> flood;
  server.loop.call([&] { flood = Flood::start(*server.echo.peers[0], 10'000'000); });
  CHECK(server.loop.eventually([&] { return !server.echo.peers[0]->ready(); }));
  server.tcp.call([](auto& tcp) { tcp.abort_all(); });
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
  CHECK(server.tcp.call([](auto& tcp) { return tcp.connection_count(); }) == 0);
  CHECK(flood.expired());
}

TEST_CASE("TCP: a transport that is destroyed takes its connections with it") {
  Echo echo;
  LoopThread loop;
  auto tcp = std::make_unique<OnLoop<TcpTransport>>(loop, usual_limits<TcpOptions>(), echo.accept(loop));
  RawSocket client(tcp->call([](auto& transport) { return transport.port(); }));
  REQUIRE(loop.eventually([&] { return echo.peers.size() == 1; }));
  tcp.reset();
  CHECK(client.receive_rest() == "");
  loop.call([&] {
    CHECK(echo.peers[0]->closed());
    echo.peers[0]->send("into the void");
  });
}

TEST_CASE("TCP: what one client makes the layer above throw ends that client's connection and nothing else") {
  TcpEchoServer server;
  server.loop.expect_faults();
  RawSocket other(server.port());
  other.send("{before}\n");
  CHECK(other.receive_line() == "{before}");
  server.loop.call([&] { server.echo.throws_at_accept = true; });
  RawSocket unlucky(server.port());
  CHECK(unlucky.receive_rest() == "");
  CHECK(server.loop.has_faults(1));
  RawSocket guilty(server.port());
  guilty.send("{}\n{fault}\n{after}\n");
  CHECK(guilty.receive_rest().find("after") == std::string::npos);
  CHECK(server.loop.has_faults(2));
  CHECK(server.closes(1));
  CHECK(server.tcp.eventually([](auto& tcp) { return tcp.connection_count() == 1; }));
  other.send("{still here}\n");
  CHECK(other.receive_line() == "{still here}");
  RawSocket next(server.port());
  next.send("{next}\n");
  CHECK(next.receive_line() == "{next}");
}
