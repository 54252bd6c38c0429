#include "transport/websocket/websocket_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <asio/post.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

struct WebSocketEchoServer {
  explicit WebSocketEchoServer(const websocket::Options& options = usual_limits<websocket::Options>())
      : websocket(loop, options, echo.accept(loop)) {}
  std::uint16_t port() {
    return websocket.call([](auto& transport) { return transport.port(); });
  }

  Echo echo;
  LoopThread loop;
  OnLoop<websocket::Transport> websocket;
};

std::string handshake(const std::string& more = "", const std::string& version = "13",
                      const std::string& key = "dGhlIHNhbXBsZSBub25jZQ==") {
  return "GET /any HTTP/1.1\r\nHost: localhost\r\nUpgrade: WebSocket\r\nConnection: "
         "Upgrade\r\nSec-WebSocket-Version: " +
         version + "\r\nSec-WebSocket-Key: " + key + "\r\n" + more + "\r\n";
}

struct Frame {
  unsigned first;
  std::string payload;
  bool operator==(const Frame&) const = default;
};

class WebSocketClient : public RawSocket {
 public:
  explicit WebSocketClient(std::uint16_t port, int receive_buffer = kUsualBuffer) : RawSocket(port, receive_buffer) {
    send(handshake());
    REQUIRE(receive_until("\r\n\r\n").substr(0, 12) == "HTTP/1.1 101");
  }

  // Nothing if the connection ends instead.
  std::optional<Frame> read_frame() try {
    const std::string start = receive(2);
    const auto byte = [](const std::string& text, std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::size_t length = byte(start, 1);
    if (length >= 126) {
      const std::string extended = receive(length == 126 ? 2 : 8);
      length = 0;
      for (std::size_t i = 0; i < extended.size(); ++i) length = length << 8 | byte(extended, i);
    }
    return Frame{byte(start, 0), receive(length)};
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  // The text of the next frame, which has to be a text frame.
  std::optional<std::string> read_text() {
    auto frame = read_frame();
    if (!frame || frame->first != (kFinal | kText)) return std::nullopt;
    return std::move(frame->payload);
  }
  // The code of the close frame that comes next, if the connection ends after it; 0 otherwise.
  unsigned read_close() {
    const auto frame = read_frame();
    if (!frame || frame->first != (kFinal | kClose) || frame->payload.size() < 2 || receive_rest() != "") return 0;
    return static_cast<unsigned char>(frame->payload[0]) * 256U + static_cast<unsigned char>(frame->payload[1]);
  }
};

}  // namespace

TEST_CASE("WebSocket: the handshake proves the key and chooses subprotocol mcp if it is offered") {
  CHECK(websocket::accept_key("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  WebSocketEchoServer server;
  const auto answer = [&](const std::string& more) {
    RawSocket client(server.port());
    client.send(handshake(more));
    return client.receive_until("\r\n\r\n");
  };
  CHECK(answer("").find("Sec-WebSocket-Protocol") == std::string::npos);
  CHECK(answer("Sec-WebSocket-Protocol: chat, mcp\r\n").find("\r\nSec-WebSocket-Protocol: mcp\r\n") !=
        std::string::npos);
  CHECK(answer("Sec-WebSocket-Protocol: chat\r\n").find("Sec-WebSocket-Protocol") == std::string::npos);
  // Only names of header fields are the same in both cases: a client refuses what it has not offered.
  CHECK(answer("Sec-WebSocket-Protocol: MCP\r\n").find("Sec-WebSocket-Protocol") == std::string::npos);
  CHECK(answer("sec-websocket-protocol: chat,\r\nSec-WebSocket-Protocol: mcp\r\n")
            .find("\r\nSec-WebSocket-Protocol: mcp\r\n") != std::string::npos);
  CHECK(answer("Sec-WebSocket-Extensions: permessage-deflate\r\n").find("Extensions") == std::string::npos);
}

TEST_CASE("WebSocket: wrong handshakes are refused") {
  WebSocketEchoServer server;
  const auto answer = [&](const std::string& request) {
    RawSocket client(server.port());
    client.send(request);
    return client.receive_until("\r\n\r\n");
  };
  const auto old = answer(handshake("", "8"));
  CHECK(old.substr(0, 12) == "HTTP/1.1 426");
  CHECK(old.find("\r\nSec-WebSocket-Version: 13\r\n") != std::string::npos);
  CHECK(answer("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").substr(0, 12) == "HTTP/1.1 426");
  CHECK(answer(handshake("", "13", "short")).substr(0, 12) == "HTTP/1.1 400");
  CHECK(answer(handshake("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")).substr(0, 12) == "HTTP/1.1 400");
  CHECK(answer(handshake("Content-Length: 2\r\n") + "hi").substr(0, 12) == "HTTP/1.1 400");
  CHECK(answer("POST / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n").substr(0, 12) == "HTTP/1.1 400");
  CHECK(answer(handshake("Origin: http://evil.example\r\n")).substr(0, 12) == "HTTP/1.1 403");
  CHECK(answer(handshake("Origin: http://localhost:5173\r\n")).substr(0, 12) == "HTTP/1.1 101");
  CHECK(server.loop.call([&] { return server.echo.peers.size(); }) == 1);
}

TEST_CASE("WebSocket: the headers of a handshake may be as long as is said, and no longer") {
  auto options = usual_limits<websocket::Options>();
  options.header_bytes = 1000;
  WebSocketEchoServer server(options);
  const auto status_with = [&](std::size_t bytes) {
    RawSocket client(server.port());
    client.send(handshake("X-Long: " + std::string(bytes, 'x') + "\r\n"));
    return client.receive_until("\r\n\r\n").substr(9, 3);
  };
  CHECK(status_with(700) == "101");
  CHECK(status_with(1000) == "431");
}

TEST_CASE("WebSocket: messages from 0 bytes to 16 MB come back whole") {
  auto options = usual_limits<websocket::Options>();
  options.limits.max_message_bytes = 16'000'000;
  WebSocketEchoServer server(options);
  WebSocketClient client(server.port());
  for (const std::size_t length : {0U, 1U, 125U, 126U, 65'535U, 65'536U, 1'000'000U, 16'000'000U}) {
    const std::string message(length, 'x');
    client.send(text_frame(message));
    CHECK((client.read_text() == message));
  }
}

TEST_CASE("WebSocket: several messages in one packet, one byte by byte, fragments with a ping between") {
  WebSocketEchoServer server;
  WebSocketClient client(server.port());
  client.send(text_frame("one") + text_frame("two") + text_frame("three"));
  CHECK(client.read_text() == "one");
  CHECK(client.read_text() == "two");
  CHECK(client.read_text() == "three");
  for (const char c : text_frame("slowly")) client.send(std::string(1, c));
  CHECK(client.read_text() == "slowly");
  client.send(client_frame(kText, "in ") + client_frame(kFinal | kPing, "are you there?") +
              client_frame(kFinal, "parts"));
  CHECK(client.read_frame() == Frame{kFinal | kPong, "are you there?"});
  CHECK(client.read_text() == "in parts");
}

TEST_CASE("WebSocket: an oversized message is reported and the connection goes on") {
  auto options = usual_limits<websocket::Options>();
  options.limits.max_message_bytes = 1000;
  WebSocketEchoServer server(options);
  WebSocketClient client(server.port());
  client.send(text_frame(std::string(200'000, 'x')) + text_frame("after"));
  CHECK(client.read_text() == "oversized, limit 1000");
  CHECK(client.read_text() == "after");
}

TEST_CASE("WebSocket: a client's close is answered with its code and reason") {
  WebSocketEchoServer server;
  for (const unsigned code : {1000U, 1001U, 4000U}) {
    WebSocketClient client(server.port());
    const auto payload = close_payload(code, "because");
    client.send(client_frame(kFinal | kClose, payload) + text_frame("after"));
    CHECK(client.read_frame() == Frame{kFinal | kClose, payload});
    CHECK(client.receive_rest() == "");
  }
  WebSocketClient silent(server.port());
  silent.send(client_frame(kFinal | kClose, ""));
  CHECK(silent.read_frame() == Frame{kFinal | kClose, ""});
  CHECK(server.loop.eventually([&] { return server.echo.closed == 4; }));
  CHECK(server.loop.call([&] { return server.echo.messages.empty(); }));
}

TEST_CASE("WebSocket: violations are closed with their code") {
  WebSocketEchoServer server;
  const auto code_for = [&](const std::string& bytes) {
    WebSocketClient client(server.port());
    client.send_some(bytes + text_frame("after"));
    return client.read_close();
  };
  CHECK(code_for(text_frame("\xC3(")) == 1007);
  CHECK(code_for(client_frame(kText, "\xE2\x82") + client_frame(kFinal, "(")) == 1007);
  CHECK(code_for(std::string("\x81\x02hi", 4)) == 1002);
  CHECK(code_for(client_frame(kFinal | 0x40 | kText, "hi")) == 1002);
  CHECK(code_for(client_frame(kFinal | 3, "hi")) == 1002);
  CHECK(code_for(client_frame(kPing, "hi")) == 1002);
  CHECK(code_for(client_frame(kFinal | kPing, std::string(126, 'x'))) == 1002);
  CHECK(code_for(client_frame(kFinal, "continued")) == 1002);
  CHECK(code_for(client_frame(kFinal | kClose, close_payload(1005))) == 1002);
  CHECK(code_for(client_frame(kFinal | kClose, close_payload(1006))) == 1002);
  CHECK(code_for(client_frame(kFinal | kClose, "x")) == 1002);
  CHECK(code_for(client_frame(kFinal | kBinary, "hi")) == 1003);
  CHECK(server.loop.call([&] { return server.echo.messages.empty(); }));
}

TEST_CASE("WebSocket: the server closes with 1000, and with 1001 when it stops, after what is queued") {
  WebSocketEchoServer server;
  WebSocketClient client(server.port());
  WebSocketClient other(server.port());
  REQUIRE(server.loop.eventually([&] { return server.echo.peers.size() == 2; }));
  server.loop.call([&] {
    server.echo.peers[0]->send("goodbye");
    server.echo.peers[0]->close();
    server.echo.peers[0]->send("too late");
  });
  CHECK(client.read_text() == "goodbye");
  CHECK(client.read_close() == 1000);
  server.websocket.call([](auto& websocket) { websocket.close_all(); });
  CHECK(other.read_close() == 1001);
}

TEST_CASE("WebSocket: silent clients are pinged, and closed if they do not answer") {
  auto options = usual_limits<websocket::Options>();
  options.websocket = {50ms, 400ms};
  WebSocketEchoServer server(options);
  WebSocketClient client(server.port());
  // As long as pongs come, nothing happens, for far longer than the time-out.
  for (int i = 0; i < 12; ++i) {
    REQUIRE(client.read_frame() == Frame{kFinal | kPing, ""});
    client.send(client_frame(kFinal | kPong, ""));
  }
  while (true) {
    const auto frame = client.read_frame();
    REQUIRE(frame);
    if (frame->first == (kFinal | kPing)) continue;
    CHECK(frame->first == (kFinal | kClose));
    CHECK(frame->payload.substr(0, 2) == close_payload(1001));
    break;
  }
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
}

TEST_CASE("WebSocket: a client that disconnects is noticed") {
  WebSocketEchoServer server;
  WebSocketClient client(server.port());
  REQUIRE(server.loop.eventually([&] { return server.echo.peers.size() == 1; }));
  const Event gone;
  server.loop.call([&] { server.echo.peers[0]->when_closed([gone] { gone.happen(); }); });
  SECTION("by closing") { client.close(); }
  SECTION("by half-closing, which WebSocket does not know") { client.finish_sending(); }
  SECTION("by a reset") { client.reset(); }
  CHECK(gone.happens());
}

TEST_CASE("WebSocket: what else the loop has to do comes between the frames that one client sends at once") {
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
  OnLoop<websocket::Transport> websocket(loop, usual_limits<websocket::Options>(), accept);
  WebSocketClient client(websocket.call([](auto& transport) { return transport.port(); }));
  std::string together;
  for (int each = 0; each < 5000; ++each) together += client_frame(kFinal | kText, "{" + std::to_string(each) + "}");
  client.send(together);
  REQUIRE(all.happens());
  const auto counted = loop.call([&] { return handled_at_its_turn; });
  CHECK(counted > 0);
  CHECK(counted <= 16);
}

TEST_CASE("WebSocket: 20,000 messages arrive complete and in order, whatever another client does not read") {
  auto options = usual_limits<websocket::Options>();
  options.limits.send_queue_bytes = 64 * 1024;
  options.limits.kernel_send_bytes = 16 * 1024;
  options.limits.stall = 5s;  // for who reads has to do so, also on a busy machine
  WebSocketEchoServer server(options);
  WebSocketClient stuck(server.port(), 4096);
  WebSocketClient client(server.port());
  REQUIRE(server.loop.eventually([&] { return server.echo.peers.size() == 2; }));
  server.loop.call([&] {
    Flood::start(*server.echo.peers[0], 1'000'000'000);
    Flood::start(*server.echo.peers[1], 20'000);
  });
  for (std::size_t i = 0; i < 20'000; ++i) {
    const auto text = client.read_text();
    if (text != Flood::message(i)) FAIL("message " << i << " is " << text.value_or("missing"));
  }
  CHECK(server.loop.eventually([&] { return server.echo.closed == 1; }));
}

TEST_CASE("WebSocket: what one client makes the layer above throw ends that client's connection and nothing else") {
  WebSocketEchoServer server;
  server.loop.expect_faults();
  WebSocketClient other(server.port());
  WebSocketClient guilty(server.port());
  guilty.send(client_frame(kFinal | kText, "{fault}"));
  CHECK(guilty.receive_rest() == "");
  CHECK(server.loop.has_faults(1));
  server.loop.call([&] { server.echo.throws_at_accept = true; });
  RawSocket unlucky(server.port());
  unlucky.send(handshake());
  CHECK(unlucky.ends());
  CHECK(server.loop.has_faults(2));
  other.send(client_frame(kFinal | kText, "still here"));
  CHECK(other.read_text() == "still here");
}
