// The ways to reach a server, for tests that try all of them.
#pragma once

#include <array>
#include <string_view>

namespace rkllm_mcp::test {

enum class Transport { kStdio, kTcp, kUnix, kUdp, kHttp, kWebSocket };

inline constexpr std::array kAllTransports{Transport::kStdio, Transport::kTcp,  Transport::kUnix,
                                           Transport::kUdp,   Transport::kHttp, Transport::kWebSocket};

// As the server's settings and ports file spell it.
constexpr std::string_view name_of(Transport transport) {
  switch (transport) {
    case Transport::kStdio: return "stdio";
    case Transport::kTcp: return "tcp";
    case Transport::kUnix: return "unix";
    case Transport::kUdp: return "udp";
    case Transport::kHttp: return "http";
    case Transport::kWebSocket: return "ws";
  }
  return "";
}

}  // namespace rkllm_mcp::test
