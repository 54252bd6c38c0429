// Streams of bytes may be cut anywhere: every message arrives whole when each of its bytes comes by itself.
// (WebSocket's own fragments are in websocket_test.cpp; a datagram is never cut.)
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::test {
namespace {

constexpr int kMessagesInBytes = 20;
constexpr int kFragmentRounds = 5;

// With characters of two to four bytes, which are cut as well.
std::string request_of(int number) {
  return R"({"jsonrpc":"2.0","id":"số 七 😀 )" + std::to_string(number) + R"(","method":"ping"})";
}

std::string answer_to(int number) {
  return R"({"jsonrpc":"2.0","id":"số 七 😀 )" + std::to_string(number) + R"(","result":{}})";
}

void send_bytes(RawSocket& client, std::string_view bytes) {
  for (const char byte : bytes) client.send({&byte, 1});
}

}  // namespace

TEST_CASE("lines over TCP, a Unix socket and standard input are whole, however they are cut") {
  SteadyServer server;
  Process& process = server.live().process();
  server.endures(kFragmentRounds, [&] {
    RawSocket tcp(server.live().port(Transport::kTcp));
    RawSocket unix_socket(server.live().endpoint(Transport::kUnix).path);
    for (int i = 0; i < kMessagesInBytes; ++i) {
      for (RawSocket* const client : {&tcp, &unix_socket}) {
        send_bytes(*client, request_of(i) + "\r\n\n");
        REQUIRE(client->receive_until("\n") == answer_to(i) + "\n");
      }
      for (const char byte : request_of(i) + "\n") process.write({&byte, 1});
      REQUIRE(process.read_line() == answer_to(i));
    }
  });
}

TEST_CASE("HTTP bodies are whole, however they and their heads are cut, in chunks of a byte too") {
  SteadyServer server;
  server.endures(kFragmentRounds, [&] {
    RawSocket client(server.live().port(Transport::kHttp));
    for (int i = 0; i < kMessagesInBytes; ++i) {
      send_bytes(client, http_post(request_of(i)));
      REQUIRE(client.receive_until(answer_to(i)).starts_with("HTTP/1.1 200 "));
      std::string chunked = std::string(kPost) + "Transfer-Encoding: chunked\r\n\r\n";
      for (const char byte : request_of(i)) chunked.append("1;x=y\r\n").append(1, byte).append("\r\n");
      send_bytes(client, chunked + "0\r\nTrailer: x\r\n\r\n");
      REQUIRE(client.receive_until(answer_to(i)).starts_with("HTTP/1.1 200 "));
    }
  });
}

TEST_CASE("a WebSocket handshake of single bytes, with the first message right behind it, is answered") {
  SteadyServer server;
  server.endures(kFragmentRounds, [&] {
    RawSocket client(server.live().port(Transport::kWebSocket));
    send_bytes(client, std::string(kHandshake) + text_frame(ping(1)));
    REQUIRE(client.receive_until("\r\n\r\n").starts_with("HTTP/1.1 101 "));
    REQUIRE(receive_frame(client) == pong(1));
  });
}

}  // namespace rkllm_mcp::test
