#include "transport/peer.hpp"

namespace rkllm_mcp {

std::string_view host_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

std::string_view name_of(TransportKind kind) {
  switch (kind) {
    case TransportKind::kStdio: return "stdio";
    case TransportKind::kTcp: return "tcp";
    case TransportKind::kUnix: return "unix";
    case TransportKind::kUdp: return "udp";
    case TransportKind::kHttp: return "http";
    case TransportKind::kWebSocket: return "ws";
  }
  return "unknown";
}

}  // namespace rkllm_mcp
