// How an HTTP request becomes a WebSocket connection (RFC 6455, section 4).
#pragma once

#include "transport/http/http_message.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::websocket {

// Whether the client asks for WebSocket, rightly or not.
bool wants_websocket(const http::Request& request);

// The answer: 101 with the key's proof, and subprotocol `mcp` if the client offered it; or 426 for another version of
// the protocol, or 400 for a request that is not in order.
http::Response handshake(const http::Request& request);

// What a request that does not ask for WebSocket gets where nothing else is served.
http::Response upgrade_required();

// Sec-WebSocket-Accept for a key: what the server proves with, and the client compares.
std::string accept_key(std::string_view key);

}  // namespace rkllm_mcp::websocket
