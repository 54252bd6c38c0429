// What the runtime library counts while it serves: how often clients came up against each limit, and what became of
// tokens and datagrams that could not leave at once. Whoever shows metrics owns one; without one nobody counts.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rkllm_mcp {

enum class Limit {
  kMessageBytes,
  kDepth,
  kIdBytes,
  kConnections,
  kConnectionsPerPeer,
  kRequestsPerConnection,
  kStall,
  kIdle,
  kHeaderBytes,
  kHeaderTime,
  kStreamBuffer,
  kStreamValues,
  kStreamMemory,
  kPollTimeout,
  kQueueLength,
  kQueueTime,
  kHandles,
  kAuthorization,
};

// The setting behind each, e.g. "limits.max_connections".
inline constexpr std::array kSettingOfLimit{
    std::string_view("limits.max_message_bytes"),
    std::string_view("limits.max_depth"),
    std::string_view("limits.max_id_bytes"),
    std::string_view("limits.max_connections"),
    std::string_view("limits.max_connections_per_peer"),
    std::string_view("limits.max_requests_per_connection"),
    std::string_view("limits.stall_s"),
    std::string_view("limits.idle_s"),
    std::string_view("http.header_bytes"),
    std::string_view("http.header_timeout_s"),
    std::string_view("stream.buffer_bytes"),
    std::string_view("stream.values_bytes"),
    std::string_view("stream.memory_bytes"),
    std::string_view("stream.poll_timeout_s"),
    std::string_view("queue.max_per_handle"),
    std::string_view("queue.timeout_s"),
    std::string_view("limits.max_handles"),
    std::string_view("auth.tokens"),
};

constexpr std::string_view setting_of(Limit limit) { return kSettingOfLimit.at(static_cast<std::size_t>(limit)); }

struct Counts {
  std::array<std::atomic<std::uint64_t>, kSettingOfLimit.size()> reached{};
  std::atomic<std::uint64_t> joined_tokens{0};      // that travelled in the chunk of another one
  std::atomic<std::uint64_t> faults{0};             // that callbacks of the event loop have let through
  std::atomic<std::uint64_t> dropped_datagrams{0};  // that UDP had no room for, or no right to send
};

inline void count(Counts* counts, Limit limit) {
  if (counts != nullptr) counts->reached.at(static_cast<std::size_t>(limit)).fetch_add(1, std::memory_order_relaxed);
}

inline void count(Counts* counts, std::atomic<std::uint64_t> Counts::*what, std::uint64_t times = 1) {
  if (counts != nullptr) (counts->*what).fetch_add(times, std::memory_order_relaxed);
}

}  // namespace rkllm_mcp
