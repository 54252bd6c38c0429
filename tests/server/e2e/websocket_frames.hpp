// Client frames byte by byte (RFC 6455), for tests that need them broken or in pieces.
#pragma once

#include "client/endpoint.hpp"
#include "support/raw_socket.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

enum class Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8 };
enum class Fragment { kLast, kMore };

// The handshake, to its end.
void open_websocket(RawSocket& socket, const client::Endpoint& endpoint);

std::string masked_frame(Opcode opcode, std::string_view payload, Fragment fragment = Fragment::kLast);
inline std::string masked_text_frame(std::string_view payload) { return masked_frame(Opcode::kText, payload); }

// The payload of the next frame.
std::string receive_frame(RawSocket& socket);

}  // namespace rkllm_mcp::test
