// Where a server listens, as a URL: tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http://HOST:PORT[/PATH],
// ws://HOST:PORT[/PATH].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

enum class Protocol { kTcp, kUnix, kUdp, kHttp, kWebSocket };

struct Endpoint {
  Protocol protocol;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port;
  std::string path;     // of the socket's file; of http and ws: "/jsonrpc" and "/" if the URL has none
  std::string token{};  // no part of the URL; empty: the server asks for none

  std::string authority() const;  // HOST:PORT as a Host header has it; of a Unix socket its path
};

// Throws std::invalid_argument that says what a URL looks like.
Endpoint parse_endpoint(std::string_view url);

}  // namespace rkllm_mcp::client
