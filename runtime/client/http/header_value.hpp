// Text from a message as the value of an HTTP header, the way MCP 2026-07-28 wants it in Mcp-Name: as it is if a header
// can carry it, else =?base64?...?=.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp::client {

std::string header_value(std::string_view text);

}  // namespace rkllm_mcp::client
