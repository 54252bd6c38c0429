#include "client/sockets/spoken_protocol.hpp"

#include "runtime/client/one_shot_server.hpp"
#include "support/catch.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::test::OneShotServer;

namespace {

using Pieces = std::vector<std::string>;

const std::string kTlsAlert("\x15\x03\x01\x00\x02\x02\x28", 7);
const std::string kLine = "{\"jsonrpc\":\"2.0\"}\n";
const std::string kPlainHttp = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
const std::string kWebSocketOnly = "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n";

// A server that answers each client in these pieces, by what that has said first, and closes the connection.
class AnsweringPort {
 public:
  enum class Question { kTls, kHttp };
  using Answer = std::function<Pieces(Question)>;

  explicit AnsweringPort(Answer answer) : answer_(std::move(answer)) {
    server_.emplace([this](int first) {
      serve(first);
      for (int next = server_->accept(); next >= 0; next = server_->accept()) {
        serve(next);
        ::close(next);
      }
    });
  }
  explicit AnsweringPort(const std::string& always) : AnsweringPort([always](Question) { return Pieces{always}; }) {}

  Endpoint endpoint(Protocol protocol, const std::string& path = "/mcp") const {
    return {protocol, "127.0.0.1", server_->port(), path};
  }
  // What is spoken there, for who comes with that protocol; nothing if it is that, or nothing known.
  std::optional<Protocol> spoken_for(Protocol protocol) const {
    const auto spoken = spoken_instead(endpoint(protocol));
    if (!spoken) return std::nullopt;
    return spoken->protocol;
  }
  int clients() const { return clients_; }

 private:
  void serve(int client) {
    ++clients_;
    std::array<char, 4096> bytes{};
    const auto size = ::recv(client, bytes.data(), bytes.size(), 0);
    const bool is_tls = size > 0 && bytes[0] == 0x16;
    for (const auto& piece : answer_(is_tls ? Question::kTls : Question::kHttp)) OneShotServer::send(client, piece);
    ::shutdown(client, SHUT_RDWR);
  }

  const Answer answer_;
  std::atomic<int> clients_ = 0;
  std::optional<OneShotServer> server_;
};

const auto kNone = std::optional<Protocol>();

}  // namespace

TEST_CASE("a server that speaks TLS is known by its first answer, and most likely speaks inside it what was meant") {
  const AnsweringPort port(kTlsAlert);
  CHECK(port.spoken_for(Protocol::kTcp) == Protocol::kTcps);
  CHECK(port.spoken_for(Protocol::kHttp) == Protocol::kHttps);
  CHECK(port.spoken_for(Protocol::kWebSocket) == Protocol::kWebSockets);
  for (const auto own : {Protocol::kTcps, Protocol::kHttps, Protocol::kWebSockets}) {
    CHECK(port.spoken_for(own) == kNone);
  }
  CHECK(port.clients() == 6);  // none was asked for more
}

TEST_CASE("a server of TLS that answers in plain text who does not speak it is one of TLS") {
  const AnsweringPort port([](AnsweringPort::Question question) {
    return Pieces{question == AnsweringPort::Question::kTls ? std::string("\x16\x03\x03\x00\x7A", 5) : kPlainHttp};
  });
  CHECK(port.spoken_for(Protocol::kHttp) == Protocol::kHttps);
}

TEST_CASE("a server of HTTP is known, also if it says nothing to who begins with TLS") {
  const AnsweringPort always(kPlainHttp);
  const AnsweringPort to_questions([](AnsweringPort::Question question) {
    return question == AnsweringPort::Question::kTls ? Pieces{} : Pieces{kPlainHttp};
  });
  for (const auto* const port : {&always, &to_questions}) {
    CHECK(port->spoken_for(Protocol::kHttps) == Protocol::kHttp);
    CHECK(port->spoken_for(Protocol::kTcp) == Protocol::kHttp);
    CHECK(port->spoken_for(Protocol::kTcps) == Protocol::kHttp);
    CHECK(port->spoken_for(Protocol::kWebSockets) == Protocol::kWebSocket);
    CHECK(port->spoken_for(Protocol::kHttp) == kNone);
  }
}

TEST_CASE("a server that asks for an upgrade of the connection speaks WebSocket, in whatever pieces that comes") {
  const AnsweringPort whole(kWebSocketOnly);
  const AnsweringPort in_pieces(
      [](AnsweringPort::Question) { return Pieces{"H", "TTP/", "1.1", " 4", "26", " Upgrade Required\r\n\r\n"}; });
  for (const auto* const port : {&whole, &in_pieces}) {
    CHECK(port->spoken_for(Protocol::kHttp) == Protocol::kWebSocket);
    CHECK(port->spoken_for(Protocol::kTcp) == Protocol::kWebSocket);
    CHECK(port->spoken_for(Protocol::kWebSockets) == Protocol::kWebSocket);
    CHECK(port->spoken_for(Protocol::kWebSocket) == kNone);
  }
}

TEST_CASE("a server that answers with a message speaks lines") {
  const AnsweringPort port(kLine);
  CHECK(port.spoken_for(Protocol::kTcps) == Protocol::kTcp);
  CHECK(port.spoken_for(Protocol::kHttp) == Protocol::kTcp);
  CHECK(port.spoken_for(Protocol::kWebSockets) == Protocol::kTcp);
  CHECK(port.spoken_for(Protocol::kTcp) == kNone);
}

TEST_CASE("what is found is the endpoint with that protocol, with its path only where that has a meaning") {
  const AnsweringPort http(kPlainHttp);
  Endpoint meant = http.endpoint(Protocol::kHttps, "/other");
  meant.token = "correct-horse";
  meant.ca_file = "/no/such/file.pem";
  const auto spoken = spoken_instead(meant);
  REQUIRE(spoken);
  CHECK(spoken->url() == "http://127.0.0.1:" + std::to_string(meant.port) + "/other");
  CHECK(spoken->token == "correct-horse");
  CHECK(spoken->ca_file == "/no/such/file.pem");

  CHECK(spoken_instead(http.endpoint(Protocol::kTcp, "/x"))->path == "/");
  CHECK(AnsweringPort(kLine).spoken_for(Protocol::kHttp) == Protocol::kTcp);
  CHECK(spoken_instead(AnsweringPort(kLine).endpoint(Protocol::kHttp))->path == "/");
}

TEST_CASE("nothing is found out of who says nothing that is known, ends at once, or is not there") {
  for (const char* const answer : {"", "SSH-2.0-x\r\n", "\x15", "HTTP", "220 mail\r\n", "[]", "\xFF\xFE"}) {
    CAPTURE(answer);
    CHECK(AnsweringPort(std::string(answer)).spoken_for(Protocol::kHttps) == kNone);
  }
  const OneShotServer gone([](int) {});
  gone.stop_listening();
  CHECK_FALSE(spoken_instead({Protocol::kHttp, "127.0.0.1", gone.port(), "/mcp"}));
  CHECK_FALSE(spoken_instead({Protocol::kHttp, "no such host", 1, "/mcp"}));
}

TEST_CASE("nobody is asked where another protocol cannot be meant") {
  const AnsweringPort port(kPlainHttp);
  CHECK(port.spoken_for(Protocol::kUdp) == kNone);
  CHECK_FALSE(spoken_instead({Protocol::kUnix, "", 0, "/no/such/socket"}));
  CHECK(port.clients() == 0);
}

TEST_CASE("a hint says what is spoken, and which URL to use") {
  const auto hint = [](Protocol meant, Protocol spoken) {
    return hint_at_protocol({meant, "board", 8443, "/mcp"}, {spoken, "board", 8443, "/mcp"});
  };
  CHECK(hint(Protocol::kHttp, Protocol::kHttps) == "; that port speaks TLS: use https://board:8443/mcp");
  CHECK(hint(Protocol::kWebSocket, Protocol::kWebSockets) == "; that port speaks TLS: use wss://board:8443/mcp");
  CHECK(hint(Protocol::kTcp, Protocol::kTcps) ==
        "; that port speaks TLS: use tcps://board:8443, or https:// or wss:// there");
  CHECK(hint(Protocol::kHttps, Protocol::kHttp) == "; that port speaks HTTP without TLS: use http://board:8443/mcp");
  CHECK(hint(Protocol::kTcp, Protocol::kHttp) == "; that port speaks HTTP: use http://board:8443/mcp");
  CHECK(hint(Protocol::kTcps, Protocol::kTcp) == "; that port speaks JSON lines without TLS: use tcp://board:8443");
  CHECK(hint(Protocol::kHttp, Protocol::kWebSocket) == "; that port speaks WebSocket: use ws://board:8443/mcp");
}

TEST_CASE("a hint is empty where nothing is found out") {
  const AnsweringPort port(kPlainHttp);
  CHECK(hint_at_protocol(port.endpoint(Protocol::kHttp)).empty());
  CHECK(hint_at_protocol(port.endpoint(Protocol::kHttps)) ==
        "; that port speaks HTTP without TLS: use http://127.0.0.1:" + std::to_string(port.endpoint({}).port) + "/mcp");
}
