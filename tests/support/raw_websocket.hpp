// A WebSocket on a connection without manners: the handshake as it should be, then frames byte by byte (see
// client_frames.hpp).
#pragma once

#include "client/endpoint.hpp"
#include "support/raw_socket.hpp"

#include <string>

namespace rkllm_mcp::test {

// The handshake, to its end.
void open_websocket(RawSocket& socket, const client::Endpoint& endpoint);

// The payload of the next frame.
std::string receive_frame(RawSocket& socket);

}  // namespace rkllm_mcp::test
