#include "transport/bytes/listener.hpp"

#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/raw_socket.hpp"

#include <asio/error.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A listener that greets each client, and keeps its connection.
struct Greeting {
  explicit Greeting(const ListenAddress& where = {})
      : listener(loop, "tcp", where, [this](asio::ip::tcp::socket socket) {
          if (std::exchange(throws, false)) throw std::bad_alloc();
          asio::write(socket, asio::buffer("hello\n", 6));
          clients.push_back(std::move(socket));
        }) {
    loop.before_end([this] { clients.clear(); });
  }
  std::uint16_t port() {
    return listener.call([](auto& listening) { return listening.port(); });
  }
  bool is_loopback() {
    return listener.call([](auto& listening) { return listening.is_loopback(); });
  }

  // On the loop:
  std::vector<asio::ip::tcp::socket> clients;
  bool throws = false;  // with the next client

  LoopThread loop;
  OnLoop<Listener> listener;
};

std::optional<ListenError> listen_error(std::string_view transport, const ListenAddress& where) {
  asio::io_context io;
  try {
    const Listener listener(io, transport, where, [](asio::ip::tcp::socket) {});
  } catch (const ListenError& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("every client that connects is handed over, at a free port if none was asked for") {
  Greeting server;
  REQUIRE(server.port() != 0);
  RawSocket first(server.port());
  RawSocket second(server.port());
  CHECK(first.receive_line() == "hello");
  CHECK(second.receive_line() == "hello");
  CHECK(server.loop.call([&] { return server.clients.size(); }) == 2);
}

TEST_CASE("a client with whom something goes wrong costs those nothing that come after it") {
  Greeting server;
  server.loop.expect_faults();
  server.loop.call([&] { server.throws = true; });
  RawSocket first(server.port());
  RawSocket second(server.port());
  CHECK(second.receive_line() == "hello");
  CHECK(server.loop.has_faults(1));
  CHECK(first.ends());
}

TEST_CASE("a port at which others listen is named, with who has it") {
  Greeting server;
  const ListenAddress where{.port = server.port()};
  const auto error = listen_error("http", where);
  REQUIRE(error);
  CHECK_THAT(error->what(), has_text("http: cannot listen on 127.0.0.1:" + std::to_string(where.port) +
                                     ": address already in use by process " + std::to_string(::getpid()) + " ("));
  CHECK(error->transport() == "http");
  CHECK(error->where().port == where.port);
  CHECK(error->where().address == "127.0.0.1");
  CHECK(error->reason() == asio::error::address_in_use);
}

TEST_CASE("what is no address of IP is refused by its name, and an address of IPv6 has brackets") {
  for (const char* const wrong : {"", "localhost", "127.0.0.256", "127.0.0.1:80", "[::1]", "gr\xC3\xBC\xC3\x9F"}) {
    CAPTURE(wrong);
    const auto error = listen_error("tcp", {.address = wrong, .port = 81});
    REQUIRE(error);
    CHECK(error->reason() == std::errc::invalid_argument);
    CHECK_THAT(error->what(), has_text(":81: not an IPv4 or IPv6 address"));
    CHECK_THROWS_AS(parse_address("tcp", {.address = wrong}), ListenError);
  }
  CHECK(listen_error("tcp", {.address = "localhost", .port = 81})->what() ==
        std::string("tcp: cannot listen on localhost:81: not an IPv4 or IPv6 address"));
  CHECK(listen_error("ws", {.address = "::x", .port = 81})->what() ==
        std::string("ws: cannot listen on [::x]:81: not an IPv4 or IPv6 address"));
}

TEST_CASE("an address that this machine has not is refused with the system's words") {
  const auto error = listen_error("tcp", {.address = "192.0.2.1", .port = 81});
  REQUIRE(error);
  CHECK(error->what() == std::string("tcp: cannot listen on 192.0.2.1:81: cannot assign requested address"));
  CHECK(error->where().address == "192.0.2.1");
}

TEST_CASE("a literal is the address that it says") {
  CHECK(parse_address("tcp", {}) == asio::ip::address_v4::loopback());
  CHECK(parse_address("tcp", {.address = "::"}) == asio::ip::address_v6::any());
}

TEST_CASE("whether only this machine can reach a listener is told by its address") {
  CHECK(Greeting().is_loopback());
  CHECK(Greeting({.address = "::1"}).is_loopback());
  CHECK_FALSE(Greeting({.address = "0.0.0.0"}).is_loopback());
  CHECK_FALSE(Greeting({.address = "::"}).is_loopback());
}

TEST_CASE("a listener that stops gives its port back, and leaves its clients") {
  Greeting server;
  const ListenAddress where{.port = server.port()};
  RawSocket client(where.port);
  client.receive_line();
  server.listener.call([](auto& listening) {
    listening.stop();
    listening.stop();
  });
  CHECK_THROWS_AS(RawSocket(where.port), std::system_error);
  Greeting next(where);
  CHECK(next.port() == where.port);
  server.loop.call([&] { asio::write(server.clients.at(0), asio::buffer("still\n", 6)); });
  CHECK(client.receive_line() == "still");
}

TEST_CASE("a socket that was handed over is listened on where it is, over either version of IP") {
  const auto address = GENERATE("127.0.0.1", "::1");
  CAPTURE(address);
  asio::io_context io;
  asio::ip::tcp::acceptor bound(io, {asio::ip::make_address(address), 0});
  const auto port = bound.local_endpoint().port();
  CHECK(family_of(bound.native_handle()) == (std::string(address) == "::1" ? AF_INET6 : AF_INET));
  Greeting server({.address = address, .port = 1, .handed = bound.release()});
  CHECK(server.port() == port);
  RawSocket client(port, RawSocket::kUsualBuffer, address);
  CHECK(client.receive_line() == "hello");
}

TEST_CASE("what was handed over and is not open is an error") {
  const auto error = listen_error("tcp", {.port = 81, .handed = std::numeric_limits<int>::max()});
  REQUIRE(error);
  CHECK(error->what() == std::string("tcp: cannot listen on 127.0.0.1:81: bad file descriptor"));
  CHECK(error->reason() == asio::error::bad_descriptor);
}
