// What one connection may use. Fields that begin as {} are for whoever opens the transport to fill in.
#pragma once

#include "counts.hpp"
#include "memory_budget.hpp"

#include <chrono>
#include <cstddef>
#include <memory>

namespace rkllm_mcp {

struct ConnectionLimits {
  // A longer incoming message is skipped and reported as Oversized.
  std::size_t max_message_bytes{};
  // How many bytes may wait for a client before ready() turns false. At twice as many the client is not read either, so
  // that a client which sends requests without reading answers cannot fill the memory.
  std::size_t send_queue_bytes{};
  // What the kernel may hold for a client on top of that (0 = what the system gives). Kept small, so that a reader who
  // does not read is noticed early.
  int kernel_send_bytes = 256 * 1024;
  // A connection is closed if its client takes nothing for this time although data waits for it.
  std::chrono::milliseconds stall{};
  // A connection is closed if no byte moves for this time, in either direction; 0 = never. HTTP and WebSocket have
  // their own rules.
  std::chrono::milliseconds idle{};
  // How long the handshake of TLS may take, in all.
  std::chrono::milliseconds tls_handshake{10'000};
  // How many connections one transport serves at a time, and how many of one client machine (of a Unix socket: of one
  // user).
  std::size_t max_connections{};
  std::size_t max_connections_per_peer{};
  // Longest message of a client that has not presented a valid token yet, where tokens are asked for.
  std::size_t stranger_message_bytes = static_cast<std::size_t>(-1);
  // From a message's first byte to its last; 0 = no limit. HTTP requests have their own times.
  std::chrono::milliseconds message{};
  // That unfinished input and waiting output count in; none: they are bounded connection by connection only.
  MemoryBudget memory{};
  Counts* counts = nullptr;
};

}  // namespace rkllm_mcp
