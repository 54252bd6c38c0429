// Where a server listens, as a URL: tcp[s]://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH],
// ws[s]://HOST:PORT[/PATH]. With the s it speaks TLS.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

enum class Protocol { kTcp, kTcps, kUnix, kUdp, kHttp, kHttps, kWebSocket, kWebSockets };

std::string_view prefix_of(Protocol protocol);  // "tcp://"

struct Endpoint {
  Protocol protocol;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port;
  std::string path;  // of the socket's file; of http and ws: where messages go
  // These are not in the URL:
  std::string token{};    // empty: the server asks for none
  std::string ca_file{};  // PEM: the certificates that a server with TLS is verified with; empty: the system's

  std::string authority() const;  // HOST:PORT as a Host header has it; of a Unix socket its path
  std::string url() const;
  bool speaks_tls() const;
};

// An http URL without a path gets `http_path`, a ws URL "/". Throws std::invalid_argument that says what a URL looks
// like.
Endpoint parse_endpoint(std::string_view url, std::string_view http_path = "/jsonrpc");

}  // namespace rkllm_mcp::client
