#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "client/http/plain_http_connection.hpp"
#include "client/http/streamable_http_connection.hpp"
#include "client/sockets/repeating_connection.hpp"
#include "client/sockets/tcp_connection.hpp"
#include "client/sockets/udp_connection.hpp"
#include "client/sockets/ws_connection.hpp"
#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp::client {
namespace {

void authenticate(Connection& connection, const Endpoint& endpoint, Clock::time_point deadline) {
  const Json params{{"token", endpoint.token}};
  connection.send(Json{{"jsonrpc", "2.0"}, {"id", "auth"}, {"method", "auth"}, {"params", params}}.dump());
  const auto reply = connection.receive(deadline);
  if (!reply) throw ConnectionError("no answer to the authentication");
  const auto answer = parse_bounded(*reply);
  if (!answer || !answer->contains("result")) {
    const Json* const error = answer ? member_of(*answer, "error") : nullptr;
    const Json* const data = error != nullptr ? member_of(*error, "data") : nullptr;
    const std::string why = data != nullptr ? text_in(*data, "reason") : std::string();
    throw TokenRefused(endpoint.authority() + ": the server refuses the access token" +
                       (why.empty() ? "" : ": " + why));
  }
}

}  // namespace

std::unique_ptr<Connection> connect(const Endpoint& endpoint, Clock::time_point deadline) {
  switch (endpoint.protocol) {
    case Protocol::kTcp:
    case Protocol::kTcps:
    case Protocol::kUnix: {
      auto connection = std::make_unique<TcpConnection>(endpoint, deadline);
      if (!endpoint.token.empty()) authenticate(*connection, endpoint, deadline);
      return connection;
    }
    case Protocol::kUdp: return std::make_unique<UdpConnection>(endpoint, deadline);
    case Protocol::kHttp:
    case Protocol::kHttps: return std::make_unique<PlainHttpConnection>(endpoint, deadline);
    case Protocol::kWebSocket:
    case Protocol::kWebSockets: return std::make_unique<WsConnection>(endpoint, deadline);
  }
  throw ConnectionError("unknown protocol");
}

std::unique_ptr<Connection> connect_mcp(const Endpoint& endpoint, Clock::time_point deadline) {
  switch (endpoint.protocol) {
    case Protocol::kHttp:
    case Protocol::kHttps: return std::make_unique<StreamableHttpConnection>(endpoint, deadline);
    case Protocol::kUdp: return std::make_unique<RepeatingConnection>(connect(endpoint, deadline), endpoint.url());
    case Protocol::kTcp:
    case Protocol::kTcps:
    case Protocol::kUnix:
    case Protocol::kWebSocket:
    case Protocol::kWebSockets: return connect(endpoint, deadline);
  }
  throw ConnectionError("unknown protocol");
}

}  // namespace rkllm_mcp::client
