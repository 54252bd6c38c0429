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
#include "transport/limits.hpp"
#include "transport/lines/stdio_transport.hpp"
#include "transport/lines/tcp_transport.hpp"
#include "transport/udp/udp_transport.hpp"
#include "transport/websocket/websocket_transport.hpp"
#include "usual_options.hpp"

#include <chrono>

namespace rkllm_mcp::test {

template <class Options>
Options usual_limits() = delete;

template <>
inline ConnectionLimits usual_limits<ConnectionLimits>() {
  return usual_connection_limits();
}

template <>
inline http::Options usual_limits<http::Options>() {
  return usual_http_options();
}

template <>
inline http::Timeouts usual_limits<http::Timeouts>() {
  return usual_http_options().timeouts;
}

template <>
inline TcpOptions usual_limits<TcpOptions>() {
  return {{}, usual_limits<ConnectionLimits>()};
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
  return usual_dispatcher_options().message;
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
  return usual_call_limits();
}

template <>
inline Dispatcher::Options usual_limits<Dispatcher::Options>() {
  return usual_dispatcher_options();
}

}  // namespace rkllm_mcp::test
