#include "client/http/plain_http_connection.hpp"
#include "client/http/streamable_http_connection.hpp"
#include "client/sockets/tcp_connection.hpp"
#include "client/sockets/ws_connection.hpp"

#include "runtime/client/one_shot_server.hpp"
#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/base64.hpp>

#include <openssl/sha.h>

#include <array>
#include <atomic>
#include <span>
#include <string>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::OneShotServer;
using rkllm_mcp::test::ScriptedHttpServer;
using namespace std::chrono_literals;

namespace {

const std::string kMebibyte(std::size_t{1} << 20U, 'x');
const std::string kPing = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

Clock::time_point soon() { return std::chrono::steady_clock::now() + 20s; }

Endpoint endpoint_at(Protocol protocol, std::uint16_t port, std::string path = {}) {
  return {protocol, "127.0.0.1", port, std::move(path)};
}

// Until the client has had enough.
void send_endlessly(int client, const std::string& piece) {
  while (OneShotServer::send(client, piece)) {
  }
}

// The server's side of the handshake.
void accept_websocket(int client) {
  std::string head;
  std::array<char, 4096> buffer;
  while (head.find("\r\n\r\n") == std::string::npos) {
    const auto size = ::recv(client, buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    head.append(buffer.data(), static_cast<std::size_t>(size));
  }
  const std::string name = "Sec-WebSocket-Key: ";
  const auto at = head.find(name) + name.size();
  const std::string key = head.substr(at, head.find('\r', at) - at) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  OneShotServer::send(client, "HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: " +
                                  rkllm_mcp::encode_base64(std::as_bytes(std::span(digest))) + "\r\n\r\n");
}

}  // namespace

TEST_CASE("a line that does not end ends the connection, and a long one comes whole") {
  OneShotServer server([](int client) {
    OneShotServer::send(client, kMebibyte + "\n");
    send_endlessly(client, kMebibyte);
  });
  TcpConnection connection(endpoint_at(Protocol::kTcp, server.port()), soon());
  CHECK(connection.receive(soon()) == kMebibyte);
  CHECK_THROWS_WITH(connection.receive(soon()), has_text("longer than 16 MiB"));
}

TEST_CASE("a WebSocket message in endless fragments ends the connection") {
  OneShotServer server([](int client) {
    accept_websocket(client);
    const std::string of_a_mebibyte("\x7F\x00\x00\x00\x00\x00\x10\x00\x00", 9);
    OneShotServer::send(client, "\x01" + of_a_mebibyte + kMebibyte);
    send_endlessly(client, std::string(1, '\0') + of_a_mebibyte + kMebibyte);
  });
  WsConnection connection(endpoint_at(Protocol::kWebSocket, server.port(), "/"), soon());
  CHECK_THROWS_WITH(connection.receive(soon()), has_text("longer than 16 MiB"));
}

TEST_CASE("a WebSocket frame that announces too much is not waited for") {
  OneShotServer server([](int client) {
    accept_websocket(client);
    OneShotServer::send(client, std::string("\x81\x7F\x00\x00\x00\x00\x01\x00\x00\x01", 10));
    std::array<char, 1> byte;
    ::recv(client, byte.data(), byte.size(), 0);
  });
  WsConnection connection(endpoint_at(Protocol::kWebSocket, server.port(), "/"), soon());
  CHECK_THROWS_WITH(connection.receive(soon()), has_text("longer than 16 MiB"));
}

TEST_CASE("an HTTP body that is too long is an error of its request, the others go on") {
  std::atomic<int> asked = 0;
  ScriptedHttpServer server([&asked](const auto& request, auto& response) {
    if (asked++ > 0) return response.set_content(request.body, "application/json");
    response.set_chunked_content_provider("application/json", [](std::size_t, httplib::DataSink& sink) {
      return sink.write(kMebibyte.data(), kMebibyte.size());
    });
  });
  SECTION("of plain JSON-RPC") {
    PlainHttpConnection connection(endpoint_at(Protocol::kHttp, server.port(), "/mcp"), soon());
    CHECK_THROWS_WITH(connection.send(kPing), has_text("longer than 16 MiB"));
    connection.send(kPing);
    CHECK(connection.receive(soon()) == kPing);
  }
  SECTION("of Streamable HTTP") {
    StreamableHttpConnection connection(endpoint_at(Protocol::kHttp, server.port(), "/mcp"), soon());
    connection.send(kPing);
    const Json error = Json::parse(connection.receive(soon()).value());
    CHECK(error["id"] == 1);
    CHECK_THAT(error["error"]["message"].get<std::string>(), has_text("longer than 16 MiB"));
  }
}

TEST_CASE("a server-sent event that does not end is an error of its request") {
  ScriptedHttpServer server([](const auto&, auto& response) {
    response.set_chunked_content_provider("text/event-stream", [](std::size_t offset, httplib::DataSink& sink) {
      if (offset == 0) sink.write("data: ", 6);
      return sink.write(kMebibyte.data(), kMebibyte.size());
    });
  });
  StreamableHttpConnection connection(endpoint_at(Protocol::kHttp, server.port(), "/mcp"), soon());
  connection.send(kPing);
  const Json error = Json::parse(connection.receive(soon()).value());
  CHECK(error["id"] == 1);
  CHECK_THAT(error["error"]["message"].get<std::string>(), has_text("longer than 16 MiB"));
}
