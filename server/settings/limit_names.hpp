// The setting behind each limit of the runtime library. Threads: any.
#pragma once

#include "limit.hpp"

namespace rkllm_mcp {

inline constexpr LimitNames kSettingOfLimit{
    "limits.max_message_bytes",
    "limits.max_depth",
    "limits.max_id_bytes",
    "limits.max_connections",
    "limits.max_connections_per_peer",
    "limits.max_requests_per_connection",
    "limits.stall_s",
    "limits.idle_s",
    "http.header_bytes",
    "http.header_timeout_s",
    "stream.buffer_bytes",
    "stream.values_bytes",
    "stream.memory_bytes",
    "stream.poll_timeout_s",
    "queue.max_per_handle",
    "queue.timeout_s",
    "limits.max_handles",
    "auth.tokens",
    "limits.memory_bytes",
    "limits.message_timeout_s",
    "limits.max_reply_bytes",
};

}  // namespace rkllm_mcp
