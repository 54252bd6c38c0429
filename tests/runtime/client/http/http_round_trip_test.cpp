#include "client/http/http_round_trip.hpp"

#include "client/connection.hpp"
#include "client/http/http_error.hpp"
#include "runtime/client/one_shot_server.hpp"
#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"
#include "support/certificate.hpp"
#include "support/process.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

using namespace rkllm_mcp::client;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

using TripEnd = HttpRoundTrip::End;

const std::string kWhere = "the server";

// A round trip, and what has come of the last answer.
struct Trip : HttpRoundTrip {
  explicit Trip(std::uint16_t port, Protocol protocol = Protocol::kHttp, const std::string& host = "127.0.0.1")
      : HttpRoundTrip(Endpoint{protocol, host, port, "/mcp"}, HttpPatience{.connect = 60s, .read = 60s}) {}

  TripEnd ask(const HttpRequest& request = {"GET", "/mcp", {}}) {
    head.reset();
    bytes.clear();
    return run(
        request,
        [this](const HttpHead& came) {
          head = came;
          return takes_head;
        },
        [this](std::string_view more) {
          bytes += more;
          return takes_bytes;
        });
  }

  bool takes_head = true;
  bool takes_bytes = true;
  std::optional<HttpHead> head;
  std::string bytes;
};

void say_and_close(int client, std::string_view answer) {
  std::array<char, 4096> question{};
  ::recv(client, question.data(), question.size(), 0);
  OneShotServer::send(client, answer);
  ::shutdown(client, SHUT_RDWR);
}

// A port that says this to each of its clients when that has asked something, and closes the connection.
class SayingPort {
 public:
  explicit SayingPort(const std::string& answer) {
    server_.emplace([this, answer](int first) {
      say_and_close(first, answer);
      for (int next = server_->accept(); next >= 0; next = server_->accept()) {
        say_and_close(next, answer);
        ::close(next);
      }
    });
  }
  std::uint16_t port() const { return server_->port(); }

 private:
  std::optional<OneShotServer> server_;
};

}  // namespace

TEST_CASE("a request is sent as it is, a body as JSON, and nothing is to be compressed") {
  ScriptedHttpServer server([](const auto&, auto& response) { response.set_content("{}", "application/json"); });
  Trip trip(server.port());
  CHECK(trip.ask({"POST", "/mcp", {{"X-One", "1"}, {"X-One", "2"}}, "gr\xC3\xBC\xC3\x9F"}) == TripEnd::kComplete);
  CHECK(trip.ask() == TripEnd::kComplete);
  const auto asked = server.asked(2);
  CHECK(asked[0].method == "POST");
  CHECK(asked[0].body == "gr\xC3\xBC\xC3\x9F");
  CHECK(asked[0].get_header_value("Content-Type") == "application/json");
  CHECK(asked[0].get_header_value_count("X-One") == 2);
  CHECK(asked[1].method == "GET");
  CHECK(asked[1].get_header_value_count("Content-Type") == 0);
  for (const auto& each : asked) CHECK(each.get_header_value("Accept-Encoding") == "identity");
  CHECK(asked[0].remote_port == asked[1].remote_port);
}

TEST_CASE("the head of an answer comes with its type in lower case, without parameters, and any status is an answer") {
  ScriptedHttpServer server([](const auto&, auto& response) {
    response.status = 503;
    response.set_header("Mcp-Session-Id", "session-1");
    response.set_content("later", "Text/Event-Stream \t; charset=UTF-8");
  });
  Trip trip(server.port());
  CHECK(trip.ask() == TripEnd::kComplete);
  REQUIRE(trip.head);
  CHECK(trip.head->status == 503);
  CHECK(trip.head->media_type == "text/event-stream");
  CHECK(trip.head->session == "session-1");
  CHECK(trip.bytes == "later");
}

TEST_CASE("an answer without a body, a type or a session is one") {
  const int status = GENERATE(202, 204);
  CAPTURE(status);
  ScriptedHttpServer server([status](const auto&, auto& response) { response.status = status; });
  Trip trip(server.port());
  CHECK(trip.ask() == TripEnd::kComplete);
  REQUIRE(trip.head);
  CHECK(trip.head->status == status);
  CHECK(trip.head->media_type.empty());
  CHECK(trip.head->session.empty());
  CHECK(trip.bytes.empty());
}

TEST_CASE("a callback may end the answer, by the head or by what has come") {
  ScriptedHttpServer server(
      [&server](const auto&, auto& response) { server.send_until_closed(response, "data: x\n\n"); });
  Trip by_head(server.port());
  by_head.takes_head = false;
  CHECK(by_head.ask() == TripEnd::kStopped);
  CHECK(by_head.head);
  CHECK(by_head.bytes.empty());
  Trip by_bytes(server.port());
  by_bytes.takes_bytes = false;
  CHECK(by_bytes.ask() == TripEnd::kStopped);
  CHECK(by_bytes.bytes == "data: x\n\n");
}

TEST_CASE("a round trip is stopped from another thread, and makes no other") {
  ScriptedHttpServer server(
      [&server](const auto&, auto& response) { server.send_until_closed(response, "data: x\n\n"); });
  Trip trip(server.port());
  std::atomic<bool> has_ended = false;
  auto end = std::async(std::launch::async, [&] {
    const auto how = trip.ask();
    has_ended = true;
    return how;
  });
  server.asked(1);
  while (!has_ended) trip.stop();
  CHECK(end.get() == TripEnd::kStopped);
  CHECK(trip.ask() == TripEnd::kStopped);
  CHECK(server.asked().size() == 1);
}

TEST_CASE("where nobody accepts connections there is none, which is said with the place") {
  const OneShotServer server([](int) {});
  server.stop_listening();
  Trip trip(server.port());
  CHECK(trip.ask() == TripEnd::kNoConnection);
  CHECK(trip.complaint() == "cannot connect");
  CHECK_FALSE(trip.spoken());
  CHECK_THROWS_AS(trip.require_reachable(kWhere), Unreachable);
  CHECK_THROWS_WITH(trip.require_reachable(kWhere), "the server: cannot connect");
}

TEST_CASE("a host that there is not is told apart from one where nobody accepts connections") {
  Trip trip(1, Protocol::kHttp, "no such host");
  CHECK(trip.ask() == TripEnd::kNoConnection);
  CHECK_THROWS_AS(trip.require_reachable(kWhere), UnknownHost);
  CHECK_THAT(trip.complaint(), has_text("the name cannot be resolved"));
}

TEST_CASE("an answer that does not come, or breaks off, is broken, though the server can be reached") {
  const SayingPort silent("");
  Trip trip(silent.port());
  CHECK(trip.ask() == TripEnd::kBroken);
  CHECK_FALSE(trip.complaint().empty());
  CHECK_FALSE(trip.spoken());
  CHECK_NOTHROW(trip.require_reachable(kWhere));

  const SayingPort breaking("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
  Trip broken(breaking.port());
  CHECK(broken.ask() == TripEnd::kBroken);
  CHECK(broken.head);
  CHECK(broken.bytes == "12345");
  CHECK_FALSE(broken.spoken());
}

TEST_CASE("a server that speaks another protocol is none for HTTP, and what it speaks is told") {
  const SayingPort lines("{\"jsonrpc\":\"2.0\"}\n");
  Trip trip(lines.port());
  CHECK(trip.ask() == TripEnd::kNoConnection);
  REQUIRE(trip.spoken());
  CHECK(trip.spoken()->protocol == Protocol::kTcp);
  CHECK_THAT(trip.complaint(), has_text("; that port speaks JSON lines: use tcp://127.0.0.1:"));
  CHECK_NOTHROW(trip.require_reachable(kWhere));

  const SayingPort websocket(
      "HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  Trip other(websocket.port());
  CHECK(other.ask() == TripEnd::kNoConnection);
  REQUIRE(other.spoken());
  CHECK(other.spoken()->url() == "ws://127.0.0.1:" + std::to_string(websocket.port()));
  CHECK_FALSE(other.head);
}

TEST_CASE("what was spoken, or went wrong, is that of the last request") {
  std::atomic<int> count = 0;
  ScriptedHttpServer server([&count](const auto&, auto& response) {
    if (++count > 1) return response.set_content("{}", "application/json");
    response.status = 426;
    response.set_header("Upgrade", "websocket");
  });
  Trip trip(server.port());
  CHECK(trip.ask() == TripEnd::kNoConnection);
  CHECK(trip.spoken());
  CHECK(trip.ask() == TripEnd::kComplete);
  CHECK_FALSE(trip.spoken());
}

TEST_CASE("a server whose certificate nobody vouches for is not trusted, and gets no request") {
  const TemporaryDirectory directory;
  const CertificateFiles files = make_certificate(directory.path());
  std::atomic<int> requests = 0;
  httplib::SSLServer server(files.certificate.c_str(), files.key.c_str());
  server.Get("/mcp", [&requests](const auto&, auto& response) {
    ++requests;
    response.set_content("{}", "application/json");
  });
  const auto port = static_cast<std::uint16_t>(server.bind_to_any_port("0.0.0.0"));
  std::thread serving([&server] { server.listen_after_bind(); });

  Trip stranger(port, Protocol::kHttps);
  CHECK(stranger.ask() == TripEnd::kNoConnection);
  CHECK_THROWS_AS(stranger.require_reachable(kWhere), UntrustedServer);
  CHECK(requests == 0);

  {
    Endpoint known{Protocol::kHttps, "127.0.0.1", port, "/mcp"};
    known.ca_file = files.certificate;
    HttpRoundTrip friendly(known, {.connect = 60s, .read = 60s});
    const auto take_all = [](const auto&) { return true; };
    CHECK(friendly.run({"GET", "/mcp", {}}, take_all, take_all) == TripEnd::kComplete);
    CHECK(requests == 1);
  }
  {
    Endpoint misnamed{Protocol::kHttps, "127.0.0.2", port, "/mcp"};
    misnamed.ca_file = files.certificate;
    HttpRoundTrip trip(misnamed, {.connect = 60s, .read = 60s});
    const auto take_all = [](const auto&) { return true; };
    CHECK(trip.run({"GET", "/mcp", {}}, take_all, take_all) == TripEnd::kNoConnection);
    CHECK_THROWS_AS(trip.require_reachable(kWhere), MisnamedServer);
    CHECK(trip.complaint() == "the server's certificate cannot be verified: IP address mismatch");
    CHECK(requests == 1);
  }
  server.stop();
  serving.join();
}

TEST_CASE("a certificate for another name is told from others where the version of cpp-httplib has an error for it") {
  enum class Older { SSLServerVerification, Read };
  enum class Newer { SSLServerVerification, SSLServerHostnameVerification, Read };
  CHECK(is_certificate_refused(Older::SSLServerVerification));
  CHECK_FALSE(is_name_refused(Older::SSLServerVerification));
  CHECK_FALSE(is_certificate_refused(Older::Read));
  CHECK(is_certificate_refused(Newer::SSLServerVerification));
  CHECK_FALSE(is_name_refused(Newer::SSLServerVerification));
  CHECK(is_certificate_refused(Newer::SSLServerHostnameVerification));
  CHECK(is_name_refused(Newer::SSLServerHostnameVerification));
  CHECK_FALSE(is_certificate_refused(Newer::Read));
}

TEST_CASE("what a callback throws comes out of the round trip, which any thread may destroy then") {
  const ScriptedHttpServer server(
      [](const auto&, auto& response) { response.set_content(std::string(100'000, 'x'), "text/plain"); });
  const bool in_head = GENERATE(true, false);
  auto trip = std::make_unique<HttpRoundTrip>(Endpoint{Protocol::kHttp, "127.0.0.1", server.port(), "/mcp"},
                                              HttpPatience{.connect = 60s, .read = 60s});
  const auto fail_if = [](bool fails) {
    if (fails) throw std::bad_alloc();
    return true;
  };
  auto asking = std::async(std::launch::async, [&] {
    trip->run(
        {"GET", "/mcp", {}}, [&](const HttpHead&) { return fail_if(in_head); },
        [&](std::string_view) { return fail_if(!in_head); });
  });
  CHECK_THROWS_AS(asking.get(), std::bad_alloc);
  trip.reset();
}
