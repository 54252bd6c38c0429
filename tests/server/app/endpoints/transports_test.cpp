// All transports of a server together: which are open, how they end, and what is said of one that cannot be opened.
// Each by itself stands in tests/runtime/transport.
#include "app/endpoints/transports.hpp"

#include "runtime/transport/echo.hpp"
#include "runtime/transport/loop_thread.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"
#include "support/raw_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// On this machine, at ports that are free; those that are switched off stay so.
Settings at_free_ports() {
  Settings settings;
  for (std::uint16_t* const port :
       {&settings.tcp.port, &settings.udp.port, &settings.http.port, &settings.ws.port, &settings.services.port}) {
    *port = 0;
  }
  for (std::string* const address : {&settings.tcp.address, &settings.udp.address, &settings.http.address,
                                     &settings.ws.address, &settings.services.address}) {
    *address = "127.0.0.1";
  }
  settings.tcp.enabled = settings.udp.enabled = settings.http.enabled = settings.ws.enabled = false;
  settings.services.enabled = false;
  return settings;
}

Settings with_all(const std::string& socket) {
  Settings settings = at_free_ports();
  settings.tcp.enabled = settings.udp.enabled = settings.http.enabled = settings.ws.enabled = true;
  settings.services.enabled = true;
  settings.unix_socket.path = socket;
  return settings;
}

Settings with_tcp() {
  Settings settings = at_free_ports();
  settings.tcp.enabled = true;
  return settings;
}

// Answers every request with its name.
http::Handler named(const std::string& name) {
  return [name](const http::Request&, http::Exchange& exchange) { exchange.respond(http::plain_response(200, name)); };
}

// What such settings open, answered by an echo, and over HTTP by the name of the port.
struct Opened {
  explicit Opened(Settings given, Transports::Context context = {}, std::optional<Stdio> stdio = std::nullopt)
      : settings(std::move(given)) {
    context.services = named("services");
    const AcceptFunction accept = echo.accept(loop);
    if (stdio) stdio->accept = accept;
    loop.call([&] { transports.emplace(loop.io(), settings, context, accept, named("http"), stdio); });
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    loop.call([this] { transports.reset(); });
  }

  Json status() {
    return loop.call([this] { return transports->status(); });
  }
  std::uint16_t port(const char* transport) { return status().at(transport).at("port").get<std::uint16_t>(); }
  bool has_connections(std::size_t count) {
    return loop.eventually([this, count] { return transports->connections() == count; });
  }

  Echo echo;
  LoopThread loop;
  Settings settings;
  std::optional<Transports> transports;
};

// What is said of settings by which not all can be opened.
std::string refusal(const Settings& settings) {
  try {
    const Opened opened(settings);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool can_connect(std::uint16_t port) {
  try {
    const RawSocket client(port);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

std::string get(std::uint16_t port) {
  RawSocket client(port);
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return client.receive_rest();
}

}  // namespace

TEST_CASE("nothing is open but what the settings switch on, each with the address and the port that it really has") {
  const TemporaryDirectory directory;
  Opened none(at_free_ports());
  CHECK(none.status() == Json::object());
  CHECK(none.has_connections(0));
  Opened all(with_all(directory / "socket"));
  const Json status = all.status();
  std::set<std::string> names;
  for (const auto& [name, what] : status.items()) {
    INFO(name);
    names.insert(name);
    CHECK(what["connections"] == 0);
    if (name == "unix") continue;
    CHECK(what["address"] == "127.0.0.1");
    CHECK(what["port"].get<int>() > 0);
    CHECK(what.contains("tls") == (name != "udp"));
  }
  CHECK(names == std::set<std::string>{"tcp", "unix", "udp", "http", "services", "ws"});
  CHECK(status["unix"]["path"] == directory / "socket");
}

TEST_CASE("connections are counted where they are, and together") {
  const TemporaryDirectory directory;
  Opened all(with_all(directory / "socket"));
  const RawSocket over_tcp(all.port("tcp"));
  const RawSocket over_http(all.port("http"));
  const RawSocket over_ws(all.port("ws"));
  const RawSocket to_services(all.port("services"));
  const RawSocket over_unix(directory / "socket");
  CHECK(all.has_connections(5));
  const Json status = all.status();
  for (const char* const name : {"tcp", "unix", "http", "services", "ws"}) CHECK(status[name]["connections"] == 1);
  CHECK(status["udp"]["connections"] == 0);
}

TEST_CASE("the services have their own port, and their own answers there") {
  const TemporaryDirectory directory;
  Opened all(with_all(directory / "socket"));
  CHECK(get(all.port("http")).find("200 OK: http\n") != std::string::npos);
  CHECK(get(all.port("services")).find("200 OK: services\n") != std::string::npos);
}

TEST_CASE(
    "a WebSocket may begin on the HTTP port only where WebSockets are switched on, and never on the services' own") {
  for (const bool is_on : {true, false}) {
    INFO(is_on);
    Settings settings = at_free_ports();
    settings.http.enabled = settings.services.enabled = true;
    settings.ws.enabled = is_on;
    Opened opened(settings);
    const auto answer = [&](const char* transport) {
      RawSocket client(opened.port(transport));
      client.send(
          "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
      return client.receive_until("\r\n");
    };
    CHECK((answer("http").find(" 101 ") != std::string::npos) == is_on);
    CHECK(answer("services").find(" 101 ") == std::string::npos);
  }
}

TEST_CASE("a transport that cannot be opened is named with its place and its settings, and none is left open") {
  Opened first(with_tcp());
  const std::uint16_t taken = first.port("tcp");
  Opened free(with_tcp());
  const std::uint16_t before = free.port("tcp");
  free.loop.call([&] { free.transports.reset(); });
  const std::vector<std::pair<std::string, std::function<void(Settings&)>>> cases{
      {"http", [&](Settings& each) { each.http.enabled = true, each.http.port = taken; }},
      {"ws", [&](Settings& each) { each.ws.enabled = true, each.ws.port = taken; }},
      {"services", [&](Settings& each) { each.services.enabled = true, each.services.port = taken; }}};
  for (const auto& [name, take] : cases) {
    Settings settings = with_tcp();
    settings.tcp.port = before;  // it is opened before the other one fails
    take(settings);
    const std::string told = refusal(settings);
    INFO(told);
    CHECK(told.find(name) == 0);
    CHECK(told.find("127.0.0.1:" + std::to_string(taken)) != std::string::npos);
    for (const char* const member : {".port", ".address", ".enabled=false"}) {
      CHECK(told.find(name + member) != std::string::npos);
    }
    CHECK_FALSE(can_connect(before));
  }
}

TEST_CASE("a certificate that cannot be read makes TLS impossible where somebody uses it, and nowhere else") {
  Settings settings = with_tcp();
  settings.tls = {"/nowhere/server.pem", "/nowhere/server.key"};
  CHECK(refusal(settings).empty());
  settings.udp.enabled = true;
  settings.ws.tls = settings.http.tls = true;  // which are switched off
  CHECK(refusal(settings).empty());
  Settings by_services = settings;
  by_services.services.enabled = true;  // with the settings of HTTP
  settings.tcp.tls = true;
  for (const Settings& each : {settings, by_services}) {
    const std::string told = refusal(each);
    CHECK(told.find("TLS is not possible: ") == 0);
    CHECK(told.find("/nowhere/server.pem") != std::string::npos);
  }
}

TEST_CASE("a certificate is renewed where one is used, and one that cannot be read leaves the old one") {
  Opened without(with_tcp());
  CHECK_FALSE(without.loop.call([&] { return without.transports->renew_certificate(); }));
  const TemporaryDirectory directory;
  const CertificateFiles files = make_certificate(directory.path());
  Settings settings = with_tcp();
  settings.tcp.tls = true;
  settings.tls = {files.certificate, files.key};
  Opened opened(settings);
  CHECK(opened.status()["tcp"]["tls"] == true);
  const auto renew = [&] { return opened.loop.call([&] { return opened.transports->renew_certificate(); }); };
  CHECK(renew());
  write_file(files.certificate, "no certificate");
  CHECK_THROWS_AS(renew(), std::runtime_error);
  CHECK(can_connect(opened.port("tcp")));
}

TEST_CASE("what has stopped accepts nobody any more, and serves those who are there") {
  const TemporaryDirectory directory;
  Opened all(with_all(directory / "socket"));
  const std::array<std::uint16_t, 4> ports{all.port("tcp"), all.port("http"), all.port("ws"), all.port("services")};
  RawSocket over_tcp(ports[0]);
  RawSocket over_unix(directory / "socket");
  REQUIRE(all.has_connections(2));
  all.loop.call([&] { all.transports->stop(); });
  for (const std::uint16_t port : ports) CHECK_FALSE(can_connect(port));
  CHECK_THROWS_AS(RawSocket(directory / "socket"), std::system_error);
  for (RawSocket* const client : {&over_tcp, &over_unix}) {
    client->send("{one}\n");
    CHECK(client->receive_line() == "{one}");
  }
}

TEST_CASE("what is closed has sent first what was waiting, whichever transport that is") {
  const TemporaryDirectory directory;
  Opened all(with_all(directory / "socket"));
  RawSocket over_tcp(all.port("tcp"));
  RawSocket over_unix(directory / "socket");
  RawSocket over_http(all.port("http"));
  RawSocket over_ws(all.port("ws"));
  RawSocket to_services(all.port("services"));
  REQUIRE(all.has_connections(5));
  const std::string message = "{" + std::string(300'000, 'x') + "}";
  REQUIRE(all.loop.eventually([&] { return all.echo.peers.size() == 2; }));
  all.loop.call([&] {
    for (const auto& peer : all.echo.peers) peer->send(message);
    all.transports->close_all();
  });
  CHECK(over_tcp.receive_rest() == message + "\n");
  CHECK(over_unix.receive_rest() == message + "\n");
  for (RawSocket* const client : {&over_http, &over_ws, &to_services}) CHECK(client->ends());
  CHECK(all.has_connections(0));
}

TEST_CASE("what is aborted ends at once, though its client reads nothing, and whoever waits for that hears of it") {
  const TemporaryDirectory directory;
  Opened all(with_all(directory / "socket"));
  const RawSocket over_tcp(all.port("tcp"), 4096);
  const RawSocket over_unix(directory / "socket");
  RawSocket over_http(all.port("http"));
  RawSocket over_ws(all.port("ws"));
  RawSocket to_services(all.port("services"));
  REQUIRE(all.has_connections(5));
  REQUIRE(all.loop.eventually([&] { return all.echo.peers.size() == 2; }));
  all.loop.call([&] {
    for (const auto& peer : all.echo.peers) peer->send(std::string(8'000'000, 'x'));
    all.transports->abort_all();
    CHECK(all.echo.closed == 0);  // in the next pass of the loop
  });
  CHECK(all.loop.eventually([&] { return all.echo.closed == 2; }));
  for (RawSocket* const client : {&over_http, &over_ws, &to_services}) CHECK(client->ends());
  CHECK(all.has_connections(0));
}

TEST_CASE("one connection too many is told so, with the limit, in the form of the messages there") {
  Settings settings = with_tcp();
  settings.limits.max_connections = 1;
  Opened opened(settings);
  const RawSocket first(opened.port("tcp"));
  REQUIRE(opened.has_connections(1));
  RawSocket second(opened.port("tcp"));
  const Json told = Json::parse(second.receive_rest());
  CHECK(told["id"].is_null());
  CHECK(told["error"]["code"] == 4004);
  CHECK(told["error"]["data"]["limit"] == 1);
}

TEST_CASE(
    "a body that is too long is refused with the limit in the form of messages, or in the chat host's own words") {
  Settings settings = at_free_ports();
  settings.http.enabled = settings.services.enabled = true;
  settings.limits.max_message_bytes = 1024;
  Transports::Context context;
  context.refused = [](const http::Request& request, const http::Refusal&) -> std::optional<http::Response> {
    if (request.path != "/v1/chat/completions") return std::nullopt;
    return http::plain_response(413, "own words");
  };
  Opened opened(settings, context);
  const auto answer = [&](const char* transport, const std::string& path) {
    RawSocket client(opened.port(transport));
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n");
    return client.receive_rest();
  };
  const std::string told = answer("http", "/mcp");
  CHECK(told.find(" 413 ") != std::string::npos);
  CHECK(told.find("4006") != std::string::npos);
  CHECK(told.find("1024") != std::string::npos);
  CHECK(answer("http", "/v1/chat/completions").find("own words") != std::string::npos);
  CHECK(answer("services", "/v1/chat/completions").find("4006") != std::string::npos);
}

TEST_CASE("who has no access token sends short messages only, but for the program's own user at its standard input") {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, input.data()) == 0);
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, output.data()) == 0);
  Transports::Context context;
  context.stranger_message_bytes = 16;
  const std::string message = "{" + std::string(100, 'x') + "}";
  {
    Opened opened(with_tcp(), context, Stdio{input[0], output[0], {}});
    CHECK(opened.status()["stdio"]["connections"] == 1);
    RawSocket client(opened.port("tcp"));
    client.send(message + "\n");
    CHECK(client.receive_line() == "oversized, limit 16");
    REQUIRE(::write(input[1], (message + "\n").data(), message.size() + 1) == static_cast<ssize_t>(message.size() + 1));
    std::string answer;
    for (char next = 0; answer.size() < message.size() && ::read(output[1], &next, 1) == 1;) answer += next;
    CHECK(answer == message);
  }
  for (const int each : {input[1], output[1]}) ::close(each);
}

TEST_CASE("a socket that was handed over takes the place of the address in the settings") {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof place;
  REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&place), length) == 0);
  REQUIRE(::listen(listening, 8) == 0);
  REQUIRE(::getsockname(listening, reinterpret_cast<sockaddr*>(&place), &length) == 0);
  Settings settings = with_tcp();
  settings.tcp.address = "192.0.2.1";  // which this machine has not
  Transports::Context context;
  context.handed.tcp = HandedSocket{listening, "127.0.0.1", ntohs(place.sin_port)};
  Opened opened(settings, context);
  CHECK(opened.status()["tcp"]["address"] == "127.0.0.1");
  CHECK(opened.port("tcp") == ntohs(place.sin_port));
  RawSocket client(ntohs(place.sin_port));
  client.send("{one}\n");
  CHECK(client.receive_line() == "{one}");
}
