#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/http_connection.hpp"
#include "client/tcp_connection.hpp"
#include "client/udp_connection.hpp"
#include "client/ws_connection.hpp"

namespace rkllm_mcp::client {

std::unique_ptr<Connection> connect(const Endpoint& endpoint, Deadline deadline) {
  switch (endpoint.protocol) {
    case Protocol::kTcp: return std::make_unique<TcpConnection>(endpoint, deadline);
    case Protocol::kUdp: return std::make_unique<UdpConnection>(endpoint, deadline);
    case Protocol::kHttp: return std::make_unique<HttpConnection>(endpoint, deadline);
    case Protocol::kWebSocket: return std::make_unique<WsConnection>(endpoint, deadline);
  }
  throw ConnectionError("unknown protocol");
}

}  // namespace rkllm_mcp::client
