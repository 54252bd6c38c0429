// Limits for programs that are made with runtime/ and have no settings of their own: those that this project's server
// has when nobody changes its settings, from the same defaults. Not those of memory: for these, give a MemoryBudget.
//
//   Dispatcher dispatcher(loop, api, catalogue, backend, usual_dispatcher_options());
//   StdioTransport stdio(loop, {.limits = usual_connection_limits()}, dispatcher.acceptor());
#pragma once

#include "dispatch/dispatcher.hpp"
#include "settings_defaults.h"
#include "transport/http/http_transport.hpp"
#include "transport/limits.hpp"

#include <chrono>

namespace rkllm_mcp {

inline ConnectionLimits usual_connection_limits() {
  ConnectionLimits limits;
  limits.max_message_bytes = defaults::kLimitsMaxMessageBytes;
  limits.send_queue_bytes = defaults::kLimitsSendQueueBytes;
  limits.stall = std::chrono::seconds(defaults::kLimitsStallS);
  limits.idle = std::chrono::seconds(defaults::kLimitsIdleS);
  limits.max_connections = defaults::kLimitsMaxConnections;
  limits.max_connections_per_peer = defaults::kLimitsMaxConnectionsPerPeer;
  limits.message = std::chrono::seconds(defaults::kLimitsMessageTimeoutS);
  return limits;
}

inline http::Options usual_http_options() {
  http::Options options;
  options.limits = usual_connection_limits();
  options.timeouts = {std::chrono::seconds(defaults::kHttpHeaderTimeoutS),
                      std::chrono::seconds(defaults::kHttpBodyTimeoutS),
                      std::chrono::seconds(defaults::kHttpKeepAliveS)};
  options.websocket.ping_interval = std::chrono::seconds(defaults::kWsPingS);
  options.header_bytes = defaults::kHttpHeaderBytes;
  return options;
}

inline CallLimits usual_call_limits() {
  CallLimits limits;
  limits.stream_buffer_bytes = defaults::kStreamBufferBytes;
  limits.stream_values_bytes = defaults::kStreamValuesBytes;
  limits.answer_bytes = defaults::kLimitsMaxMessageBytes;
  limits.reply_bytes = defaults::kLimitsMaxReplyBytes;
  limits.inline_bytes = defaults::kMcpInlineBytes;
  limits.poll_timeout = std::chrono::seconds(defaults::kStreamPollTimeoutS);
  limits.poll_wait_max = std::chrono::milliseconds(defaults::kStreamPollWaitMsMax);
  limits.stall = std::chrono::seconds(defaults::kLimitsStallS);
  limits.requests_per_session = defaults::kLimitsMaxRequestsPerConnection;
  limits.queue_timeout = std::chrono::seconds(defaults::kQueueTimeoutS);
  limits.retained_chunks = defaults::kUdpRetainedChunks;
  return limits;
}

inline Dispatcher::Options usual_dispatcher_options() {
  Dispatcher::Options options;
  options.message = {defaults::kLimitsMaxDepth, defaults::kLimitsMaxIdBytes};
  options.calls = usual_call_limits();
  options.time_to_prove = std::chrono::seconds(defaults::kAuthTimeoutS);
  return options;
}

}  // namespace rkllm_mcp
