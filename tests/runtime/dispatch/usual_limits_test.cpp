// Programs without settings of their own have the limits that the server has when nobody changes its settings.
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include "dispatch/usual_limits.hpp"

namespace rkllm_mcp::test {
namespace {

void check_same_connection(const ConnectionLimits& one, const ConnectionLimits& other) {
  CHECK(one.max_message_bytes == other.max_message_bytes);
  CHECK(one.send_queue_bytes == other.send_queue_bytes);
  CHECK(one.stall == other.stall);
  CHECK(one.idle == other.idle);
  CHECK(one.max_connections == other.max_connections);
  CHECK(one.max_connections_per_peer == other.max_connections_per_peer);
  CHECK(one.message == other.message);
}

}  // namespace

TEST_CASE("the limits of programs without settings are those of the settings") {
  check_same_connection(usual_connection_limits(), usual_limits<ConnectionLimits>());
  const http::Options http = usual_http_options();
  const auto http_of_settings = usual_limits<http::Options>();
  check_same_connection(http.limits, http_of_settings.limits);
  CHECK(http.timeouts.header == http_of_settings.timeouts.header);
  CHECK(http.timeouts.body == http_of_settings.timeouts.body);
  CHECK(http.timeouts.keep_alive == http_of_settings.timeouts.keep_alive);
  CHECK(http.websocket.ping_interval == http_of_settings.websocket.ping_interval);
  CHECK(http.header_bytes == http_of_settings.header_bytes);
  const Dispatcher::Options options = usual_dispatcher_options();
  const auto of_settings = usual_limits<Dispatcher::Options>();
  CHECK(options.message.max_depth == of_settings.message.max_depth);
  CHECK(options.message.max_id_bytes == of_settings.message.max_id_bytes);
  CHECK(options.time_to_prove == of_settings.time_to_prove);
  CHECK(options.calls.stream_buffer_bytes == of_settings.calls.stream_buffer_bytes);
  CHECK(options.calls.stream_values_bytes == of_settings.calls.stream_values_bytes);
  CHECK(options.calls.answer_bytes == of_settings.calls.answer_bytes);
  CHECK(options.calls.reply_bytes == of_settings.calls.reply_bytes);
  CHECK(options.calls.inline_bytes == of_settings.calls.inline_bytes);
  CHECK(options.calls.poll_timeout == of_settings.calls.poll_timeout);
  CHECK(options.calls.poll_wait_max == of_settings.calls.poll_wait_max);
  CHECK(options.calls.stall == of_settings.calls.stall);
  CHECK(options.calls.requests_per_session == of_settings.calls.requests_per_session);
  CHECK(options.calls.queue_timeout == of_settings.calls.queue_timeout);
  CHECK(options.calls.retained_chunks == of_settings.calls.retained_chunks);
}

}  // namespace rkllm_mcp::test
