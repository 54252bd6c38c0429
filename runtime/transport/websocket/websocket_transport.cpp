#include "transport/websocket/websocket_transport.hpp"

#include "transport/websocket/websocket_handshake.hpp"

#include <utility>

namespace rkllm_mcp {

WebSocketTransport::WebSocketTransport(asio::io_context& io, const WebSocketOptions& options, AcceptFunction accept)
    : server_(
          io, TransportKind::kWebSocket,
          HttpOptions{
              .listen = options.listen,
              .limits = options.limits,
              .timeouts = options.timeouts,
              .origins = options.origins,
              .websocket = options.websocket,
              .websocket_path = "",
              .tls = options.tls,
              .is_stranger = [](const HttpRequest&) { return true; }},  // requests but handshakes have no business here
          [](const HttpRequest&, HttpExchange& exchange) { exchange.respond(websocket_required()); },
          std::move(accept)) {}

}  // namespace rkllm_mcp
