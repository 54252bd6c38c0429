#include "transport/websocket/websocket_protocol.hpp"

#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;

TEST_CASE("WebSocket frames: headers are as long as they must be, and close payloads fit") {
  CHECK(websocket::frame_header(websocket::Opcode::kText, 0) == std::string("\x81\x00", 2));
  CHECK(websocket::frame_header(websocket::Opcode::kText, 125) == "\x81\x7D");
  CHECK(websocket::frame_header(websocket::Opcode::kText, 126) == std::string("\x81\x7E\x00\x7E", 4));
  CHECK(websocket::frame_header(websocket::Opcode::kText, 65'535) == "\x81\x7E\xFF\xFF");
  CHECK(websocket::frame_header(websocket::Opcode::kText, 65'536) == std::string("\x81\x7F\0\0\0\0\0\x01\0\0", 10));
  CHECK(websocket::close_payload(websocket::Close::kNormal, "bye") ==
        "\x03\xE8"
        "bye");
  CHECK(websocket::close_payload(websocket::Close::kNormal, std::string(500, 'x')).size() == 125);
}
