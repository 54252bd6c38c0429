#include "transport/http/http_transport.hpp"

#include "clock.hpp"
#include "text/ip_address.hpp"
#include "transport/bytes/socket_stream.hpp"
#include "transport/bytes/tls_stream.hpp"
#include "transport/http/http_message.hpp"

#include <utility>

namespace rkllm_mcp::http {

namespace {

Response refusal_of(Limit limit) {
  Response response = limit == Limit::kConnectionsPerPeer ? plain_response(429, "too many connections of this client")
                                                          : plain_response(503, "too many connections");
  response.headers.add("Date", http_date(seconds_since_1970()));
  return response;
}

Surroundings surroundings_of(asio::io_context& io, const Options& options, const ConnectionLimits& limits,
                             OriginPolicy::Binding binding, Handler handler, AcceptFunction accept_websocket) {
  ParserLimits parser_limits;
  parser_limits.header_bytes = options.header_bytes;
  parser_limits.body_bytes = limits.max_message_bytes;
  parser_limits.stranger_body_bytes = limits.stranger_message_bytes;
  parser_limits.memory = limits.memory;
  parser_limits.identify = options.identify;
  return {io,
          parser_limits,
          options.timeouts,
          OriginPolicy(options.origins, binding),
          std::move(handler),
          options.websocket,
          options.websocket_path,
          std::move(accept_websocket),
          options.refused,
          options.refuse_guess,
          limits};
}

}  // namespace

Transport::Transport(asio::io_context& io, const Options& options, Handler handler, AcceptFunction accept_websocket)
    : Transport(io, TransportKind::kHttp, options, std::move(handler), std::move(accept_websocket)) {}

Transport::Transport(asio::io_context& io, TransportKind kind, const Options& options, Handler handler,
                     AcceptFunction accept_websocket)
    : io_(io),
      limits_([&options] {
        auto limits = options.limits;
        limits.idle = {};
        return limits;
      }()),
      tls_(options.tls),
      listener_(io, name_of(kind), options.listen,
                [this](asio::ip::tcp::socket socket) { accepted(std::move(socket)); }),
      port_(listener_.port()),
      around_(
          surroundings_of(io, options, limits_,
                          listener_.is_loopback() ? OriginPolicy::Binding::kLoopback : OriginPolicy::Binding::kNetwork,
                          std::move(handler), std::move(accept_websocket))) {}

void Transport::accepted(asio::ip::tcp::socket socket) {
  std::error_code error;
  const auto remote = socket.remote_endpoint(error);
  if (error) return;  // it has closed the connection already
  const std::string client = source_of(to_text(remote));
  const auto objection = channels_.objection(client, limits_);
  if (objection) count(limits_.counts, *objection);
  if (objection && !refused_connections_.has_room()) return;  // which closes the socket
  auto stream = open_stream(io_, std::move(socket), limits_, tls_);
  const auto channel = std::make_shared<Channel>(io_, std::move(stream), limits_);
  if (objection) return refused_connections_.add(*channel, last_response(refusal_of(*objection)));
  channels_.add(*channel, client);
  channel->contain([&] { Connection::start(around_, *channel, to_text(remote)); });
}

}  // namespace rkllm_mcp::http
