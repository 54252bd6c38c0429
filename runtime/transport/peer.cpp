#include "transport/peer.hpp"

#include <utility>

namespace rkllm_mcp {

std::string_view name_of(TransportKind kind) {
  switch (kind) {
    case TransportKind::kStdio: return "stdio";
    case TransportKind::kTcp: return "tcp";
    case TransportKind::kUdp: return "udp";
    case TransportKind::kHttp: return "http";
    case TransportKind::kWebSocket: return "ws";
  }
  return "unknown";
}

void Peer::when_closed(std::function<void()> action) {
  if (closed()) return action();
  closed_actions_.push_back(std::move(action));
}

void Peer::became_ready() {
  // Actions may register new ones, which wait for the next time.
  const auto actions = std::exchange(ready_actions_, {});
  for (const auto& action : actions) action();
}

void Peer::became_closed() {
  ready_actions_.clear();
  const auto actions = std::exchange(closed_actions_, {});
  for (const auto& action : actions) action();
}

}  // namespace rkllm_mcp
