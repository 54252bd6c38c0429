#include "transport/websocket/websocket_transport.hpp"

#include "transport/websocket/websocket_protocol.hpp"

#include <utility>

namespace rkllm_mcp::websocket {

Transport::Transport(asio::io_context& io, const Options& options, AcceptFunction accept)
    : server_(
          io, TransportKind::kWebSocket,
          http::Options{
              .listen = options.listen,
              .limits = options.limits,
              .timeouts = options.timeouts,
              .origins = options.origins,
              .websocket = options.websocket,
              .websocket_path = "",
              .header_bytes = options.header_bytes,
              .tls = options.tls,
              // Only handshakes belong here, and they have no body: that of any other request is a stranger's.
              .identify = [](const http::Request&) -> const Principal* { return nullptr; }},
          [](const http::Request&, http::Exchange& exchange) { exchange.respond(upgrade_required()); },
          std::move(accept)) {}

}  // namespace rkllm_mcp::websocket
