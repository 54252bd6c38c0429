// The limits of runtime/ as the program has them when nobody has changed a setting. Tests begin with these, and change
// what they are about:
//
//   auto options = usual_limits<UdpOptions>();
//   options.max_peers = 2;
#pragma once

#include "call/poll_reader.hpp"
#include "dispatch/dispatcher.hpp"
#include "settings_defaults.h"
#include "stream/token_stream.hpp"
#include "transport/http/http_transport.hpp"
#include "transport/lines/stdio_transport.hpp"
#include "transport/lines/tcp_transport.hpp"
#include "transport/limits.hpp"
#include "transport/udp/udp_transport.hpp"
#include "transport/websocket/websocket_transport.hpp"

#include <chrono>

namespace rkllm_mcp::test {

template <class Options>
Options usual_limits() = delete;

template <>
inline ConnectionLimits usual_limits<ConnectionLimits>() {
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

template <>
inline http::Timeouts usual_limits<http::Timeouts>() {
  return {std::chrono::seconds(defaults::kHttpHeaderTimeoutS), std::chrono::seconds(defaults::kHttpBodyTimeoutS),
          std::chrono::seconds(defaults::kHttpKeepAliveS)};
}

template <>
inline TcpOptions usual_limits<TcpOptions>() {
  return {{}, usual_limits<ConnectionLimits>()};
}

template <>
inline http::Options usual_limits<http::Options>() {
  http::Options options;
  options.limits = usual_limits<ConnectionLimits>();
  options.timeouts = usual_limits<http::Timeouts>();
  options.websocket.ping_interval = std::chrono::seconds(defaults::kWsPingS);
  options.header_bytes = defaults::kHttpHeaderBytes;
  return options;
}

template <>
inline websocket::Options usual_limits<websocket::Options>() {
  const auto http = usual_limits<http::Options>();
  return {{}, http.limits, http.timeouts, {}, http.websocket, http.header_bytes};
}

template <>
inline UdpOptions usual_limits<UdpOptions>() {
  UdpOptions options;
  options.chunk_bytes = defaults::kUdpChunkBytes;
  options.send_queue_bytes = defaults::kLimitsSendQueueBytes;
  options.max_peers = defaults::kLimitsMaxConnections;
  options.max_peers_per_address = defaults::kLimitsMaxConnectionsPerPeer;
  options.idle = std::chrono::seconds(defaults::kUdpIdleS);
  return options;
}

template <>
inline MessageLimits usual_limits<MessageLimits>() {
  return {defaults::kLimitsMaxDepth, defaults::kLimitsMaxIdBytes};
}

template <>
inline TokenStream::Options usual_limits<TokenStream::Options>() {
  TokenStream::Options options;
  options.buffer_bytes = defaults::kStreamBufferBytes;
  options.values_bytes = defaults::kStreamValuesBytes;
  options.stall = std::chrono::seconds(defaults::kLimitsStallS);
  return options;
}

template <>
inline PollReader::Options usual_limits<PollReader::Options>() {
  PollReader::Options options;
  options.expiry = std::chrono::seconds(defaults::kStreamPollTimeoutS);
  return options;
}

template <>
inline CallLimits usual_limits<CallLimits>() {
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

template <>
inline Dispatcher::Options usual_limits<Dispatcher::Options>() {
  Dispatcher::Options options;
  options.message = usual_limits<MessageLimits>();
  options.calls = usual_limits<CallLimits>();
  options.time_to_prove = std::chrono::seconds(defaults::kAuthTimeoutS);
  return options;
}

}  // namespace rkllm_mcp::test
