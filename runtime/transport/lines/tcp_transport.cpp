#include "transport/lines/tcp_transport.hpp"

#include "text/ip_address.hpp"
#include "transport/bytes/socket_stream.hpp"
#include "transport/bytes/tls_stream.hpp"
#include "transport/lines/line_connection.hpp"

#include <memory>
#include <utility>

namespace rkllm_mcp {

TcpTransport::TcpTransport(asio::io_context& io, TcpOptions options, AcceptFunction accept)
    : io_(io),
      options_(std::move(options)),
      accept_(std::move(accept)),
      listener_(io, name_of(TransportKind::kTcp), options_.listen,
                [this](asio::ip::tcp::socket socket) { accepted(std::move(socket)); }),
      port_(listener_.port()) {}

void TcpTransport::accepted(asio::ip::tcp::socket socket) {
  std::error_code error;
  const auto remote = socket.remote_endpoint(error);
  if (error) return;  // it has closed the connection already
  const std::string client = source_of(to_text(remote));
  const auto objection = channels_.objection(client, options_.limits);
  if (objection) count(options_.limits.counts, *objection);
  if (objection && (!options_.refusal || !refused_connections_.has_room())) return;  // which closes the socket
  auto stream = open_stream(io_, std::move(socket), options_.limits, options_.tls);
  const auto channel = std::make_shared<Channel>(io_, std::move(stream), options_.limits);
  if (objection) return refused_connections_.add(*channel, options_.refusal(*objection));
  channels_.add(*channel, client);
  channel->contain([&] {
    LineConnection::start(*channel, {.transport = TransportKind::kTcp, .address = to_text(remote)}, options_.limits,
                          accept_);
  });
}

}  // namespace rkllm_mcp
