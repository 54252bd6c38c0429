// WebSocket frames that are wrong, or right but in the most awkward pieces: the client is told the right close code,
// and nothing that it sends after its mistake is executed.
#include "requests.hpp"
#include "steady_server.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::string_literals;

constexpr int kViolationRounds = RKLLM_MCP_SANITIZED ? 5 : 40;
constexpr unsigned kMore = 0;  // a first byte without the final bit

struct Violation {
  unsigned code;
  std::string frames;
};

std::vector<Violation> violations_of_order() {
  const std::string begun = client_frame(kMore | kText, "{\"a\":");
  return {
      {1002, client_frame(kFinal | kContinuation, "x")},
      {1002, client_frame(kMore | kContinuation, "x")},
      {1002, begun + text_frame(ping(1))},
      {1002, begun + client_frame(kMore | kText, "x")},
      {1002, begun + client_frame(kFinal | kContinuation, "1}") + client_frame(kFinal | kContinuation, "x")},
      {1003, client_frame(kFinal | kBinary, ping(1))},
      {1003, client_frame(kMore | kBinary, ping(1))},
      {1002, client_frame(kMore | kPing, "x")},
      {1002, client_frame(kMore | kPong, "x")},
      {1002, client_frame(kMore | kClose, close_payload(1000))},
      {1002, begun + client_frame(kMore | kPing, "x")},
      {1000, begun + client_frame(kFinal | kClose, close_payload(1000)) + client_frame(kFinal | kContinuation, "1}")},
  };
}

std::vector<Violation> violations_of_form() {
  std::vector<Violation> violations{
      {1002, client_frame(kFinal | kPing, std::string(126, 'x'))},
      {1002, client_frame(kFinal | kPong, std::string(70'000, 'x'))},
      {1002, client_frame(kFinal | kClose, close_payload(1000, std::string(124, 'x')))},
      {1002, client_frame(kFinal | kClose, "\x03")},
      {1007, client_frame(kFinal | kClose, close_payload(1000, "\xff"))},
      {1007, client_frame(kFinal | kClose, close_payload(1000, "\xe2\x82"))},
      {1002, "\x81\x05hello"},                            // no mask
      {1002, "\x89\x00"s},                                // nor here
      {1002, "\x81\xff\x80\0\0\0\0\0\0\x01mask"s + "x"},  // a length with its top bit set
      {1002,
       "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff"
       "maskx"},  // or all of them
  };
  for (const unsigned reserved : {0x40U, 0x20U, 0x10U, 0x70U}) {
    for (const unsigned opcode : {kText, kPing, kClose}) {
      violations.push_back({1002, client_frame(kFinal | reserved | opcode, ping(1))});
    }
  }
  for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
    violations.push_back({1002, client_frame(kFinal | opcode, ping(1))});
  }
  for (const unsigned code : {0U, 1U, 999U, 1004U, 1005U, 1006U, 1015U, 1016U, 2999U, 5000U, 65535U}) {
    violations.push_back({1002, client_frame(kFinal | kClose, close_payload(code))});
  }
  return violations;
}

std::vector<Violation> violations_of_text() {
  const std::string text = "{\"x\":\"\xf0\x9f\x98\x80\"}";
  std::vector<Violation> violations{
      {1007, client_frame(kFinal | kText, "\"\xf0\x9f\x98\"")},
      {1007, client_frame(kFinal | kText, text.substr(0, 9))},
      {1007, client_frame(kMore | kText, "\xf0\x9f") + client_frame(kFinal | kContinuation, "\xff\xff")},
      {1007, client_frame(kMore | kText, "\xf0\x9f") + client_frame(kFinal | kContinuation, "")},
      {1007, client_frame(kMore | kText, "\xed") + client_frame(kMore | kContinuation, "\xa0")},
      {1007, client_frame(kMore | kText, "\xc0")},
      {1007, client_frame(kMore | kText, "\xf4") + client_frame(kFinal | kPing, "x") +
                 client_frame(kMore | kContinuation, "\x90")},
      // The bytes were masked with another key than the frame says.
      {1007, client_frame(kFinal | kText, "hello", std::string("\x12\x34\x56\x78")).replace(2, 4, "\xff\xff\xff\xff")},
  };
  return violations;
}

// The code of the close frame, after whatever comes before it.
unsigned close_code(RawSocket& client) {
  for (;;) {
    const std::string head = client.receive(2);
    const std::string payload = client.receive(static_cast<unsigned char>(head[1]));
    if (head[0] != '\x88') continue;
    return static_cast<unsigned char>(payload.at(0)) << 8U | static_cast<unsigned char>(payload.at(1));
  }
}

void check_closed(SteadyServer& server, const std::vector<Violation>& violations) {
  const auto endpoint = server.live().endpoint(Transport::kWebSocket);
  const std::string prompt = "@n=1 smuggled in a frame";
  server.endures(kViolationRounds, [&] {
    for (const auto& [code, frames] : violations) {
      INFO("frames of " << frames.size() << " bytes: " << frames);
      RawSocket client(endpoint.port);
      open_websocket(client, endpoint);
      client.send(frames + text_frame(run(prompt)));
      REQUIRE(close_code(client) == code);
      REQUIRE(client.ends());
    }
  });
  CHECK(server.runs_of(prompt) == 0);
}

}  // namespace

TEST_CASE("frames out of order close a WebSocket with the right code, and nothing after them is executed") {
  SteadyServer server;
  check_closed(server, violations_of_order());
}

TEST_CASE("frames of a wrong form close a WebSocket with the right code, and nothing after them is executed") {
  SteadyServer server;
  check_closed(server, violations_of_form());
}

TEST_CASE("invalid UTF-8 closes a WebSocket with 1007, however it is split over fragments") {
  SteadyServer server;
  check_closed(server, violations_of_text());
}

TEST_CASE("a frame masked with another key than it says is a parse error if it is text at all") {
  SteadyServer server;
  const auto endpoint = server.live().endpoint(Transport::kWebSocket);
  server.endures(kViolationRounds, [&] {
    RawSocket client(endpoint.port);
    open_websocket(client, endpoint);
    for (int i = 0; i < 100; ++i) {
      std::string frame = client_frame(kFinal | kText, ping(i), std::string_view("\x01\x02\x03\x04"));
      frame[2] = '\x11';
      client.send(frame + text_frame(ping(i)));
      REQUIRE(receive_frame(client).find("-32700") != std::string::npos);
      REQUIRE(receive_frame(client) == pong(i));
    }
  });
}

TEST_CASE(
    "a WebSocket has its answers when each byte comes by itself, and each byte is a fragment with a ping after it") {
  SteadyServer server;
  const auto endpoint = server.live().endpoint(Transport::kWebSocket);
  server.endures(kViolationRounds, [&] {
    RawSocket client(endpoint.port);
    open_websocket(client, endpoint);
    for (int i = 0; i < 20; ++i) {
      const std::string message = ping(i);
      std::string frames = client_frame(kMore | kText, "");
      for (const char byte : message) {
        frames += client_frame(kMore | kContinuation, {&byte, 1}) + client_frame(kFinal | kPing, {&byte, 1});
      }
      frames += client_frame(kFinal | kContinuation, "");
      for (const char byte : frames) client.send({&byte, 1});
      for (const char byte : message) REQUIRE(receive_frame(client) == std::string(1, byte));
      REQUIRE(receive_frame(client) == pong(i));
    }
  });
}

TEST_CASE("a message of endless fragments is too large once, and does not fill the memory") {
  SteadyServer server({.set = {"limits.max_message_bytes=65536"}, .with_stdio = true});
  const auto endpoint = server.live().endpoint(Transport::kWebSocket);
  server.endures(kViolationRounds, [&] {
    RawSocket client(endpoint.port);
    open_websocket(client, endpoint);
    client.send(client_frame(kMore | kText, "\""));
    const std::string fragment = client_frame(kMore | kContinuation, std::string(32'768, 'x'));
    for (int i = 0; i < 500; ++i) client.send(fragment);
    client.send(client_frame(kFinal | kContinuation, "\"") + text_frame(ping(1)));
    REQUIRE(receive_frame(client).find("4006") != std::string::npos);
    REQUIRE(receive_frame(client) == pong(1));
    // A frame of 2^62 bytes never ends; its sender does.
    client.send("\x81\xff\x40\0\0\0\0\0\0\0mask"s + std::string(100'000, 'x'));
    REQUIRE(receive_frame(client).find("4006") != std::string::npos);
  });
}

TEST_CASE("compression is declined, and a compressed frame is none: a small message cannot become a large one") {
  SteadyServer server;
  const auto endpoint = server.live().endpoint(Transport::kWebSocket);
  const std::string offer = std::string(kHandshake.substr(0, kHandshake.size() - 2)) +
                            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits, "
                            "x-webkit-deflate-frame\r\n\r\n";
  server.endures(kViolationRounds, [&] {
    RawSocket client(endpoint.port);
    client.send(offer);
    const std::string head = client.receive_until("\r\n\r\n");
    REQUIRE(head.starts_with("HTTP/1.1 101 "));
    REQUIRE(head.find("Extensions") == std::string::npos);
    client.send(text_frame(ping(1)));
    REQUIRE(receive_frame(client) == pong(1));
    client.send(client_frame(kFinal | 0x40U | kText, "\xaa\x56\x4a\x4c\x4a\x06\x00"s));
    REQUIRE(close_code(client) == 1002);

    RawSocket http(server.live().port(Transport::kHttp));
    http.send(std::string(kPost) +
              "Accept-Encoding: gzip, deflate, br\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n" +
              "\x1f\x8b\x08\x00"s);
    const std::string answer = http.receive_until("-32700");
    REQUIRE(answer.starts_with("HTTP/1.1 400 "));
    REQUIRE(answer.find("Content-Encoding") == std::string::npos);
  });
}

}  // namespace rkllm_mcp::test
