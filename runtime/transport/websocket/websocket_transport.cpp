#include "transport/websocket/websocket_transport.hpp"

#include "transport/websocket/websocket_handshake.hpp"

#include <utility>

namespace rkllm_mcp {

WebSocketTransport::WebSocketTransport(asio::io_context& io, const WebSocketOptions& options, AcceptFunction accept)
    : server_(
          io, TransportKind::kWebSocket,
          HttpOptions{.listen = options.listen,
                      .limits = options.limits,
                      .timeouts = options.timeouts,
                      .origins = options.origins,
                      .websocket = options.websocket,
                      .websocket_path = "",
                      .header_bytes = options.header_bytes,
                      .tls = options.tls,
                      // Only handshakes belong here, and they have no body: that of any other request is a stranger's.
                      .identify = [](const HttpRequest&) -> const Principal* { return nullptr; }},
          [](const HttpRequest&, HttpExchange& exchange) { exchange.respond(websocket_required()); },
          std::move(accept)) {}

}  // namespace rkllm_mcp
