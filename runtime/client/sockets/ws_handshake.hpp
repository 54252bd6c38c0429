// The HTTP exchange that opens a WebSocket, seen from the client (RFC 6455, section 4).
#pragma once

#include "client/endpoint.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::client {

std::string new_websocket_key();  // 16 random bytes in base64
std::string upgrade_request(const Endpoint& endpoint, std::string_view key);
// Throws ConnectionError unless `head` (status line and headers) accepts the request that was made with `key`.
void check_upgrade_response(std::string_view head, std::string_view key);

}  // namespace rkllm_mcp::client
