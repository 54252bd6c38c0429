// Limits for programs that have no settings of their own. This project's server fills the same structs in by its
// settings; what it has when nobody changes them is the same, which a test holds.
//
//   Dispatcher dispatcher(loop, api, catalogue, backend, usual_dispatcher_options());
//   StdioTransport stdio(loop, {.limits = usual_connection_limits()}, dispatcher.acceptor());
#pragma once

#include "dispatch/dispatcher.hpp"
#include "transport/http/http_transport.hpp"
#include "transport/limits.hpp"

#include <chrono>
#include <cstddef>

namespace rkllm_mcp {

inline ConnectionLimits usual_connection_limits() {
  constexpr std::size_t kKilobyte = 1024;
  ConnectionLimits limits;
  limits.max_message_bytes = 8 * kKilobyte * kKilobyte;
  limits.send_queue_bytes = kKilobyte * kKilobyte;
  limits.stall = std::chrono::seconds(30);
  limits.max_connections = 1024;
  limits.max_connections_per_peer = 512;
  limits.message = std::chrono::seconds(120);
  return limits;
}

inline http::Options usual_http_options() {
  constexpr std::size_t kHeaderBytes = 16 * 1024;
  http::Options options;
  options.limits = usual_connection_limits();
  options.timeouts = {std::chrono::seconds(10), std::chrono::seconds(120), std::chrono::seconds(120)};
  options.websocket.ping_interval = std::chrono::seconds(30);
  options.header_bytes = kHeaderBytes;
  return options;
}

inline Dispatcher::Options usual_dispatcher_options() {
  constexpr std::size_t kMegabyte = 1024 * 1024;
  Dispatcher::Options options;
  options.message = {64, 256};
  options.time_to_prove = std::chrono::seconds(10);
  CallLimits& calls = options.calls;
  calls.stream_buffer_bytes = kMegabyte;
  calls.stream_values_bytes = 64 * kMegabyte;
  calls.answer_bytes = 8 * kMegabyte;
  calls.reply_bytes = 128 * kMegabyte;
  calls.inline_bytes = kMegabyte / 4;
  calls.poll_timeout = std::chrono::seconds(30);
  calls.poll_wait_max = std::chrono::seconds(25);
  calls.stall = std::chrono::seconds(30);
  calls.requests_per_session = 256;
  calls.queue_timeout = std::chrono::hours(1);
  calls.retained_chunks = 1024;
  return options;
}

}  // namespace rkllm_mcp
