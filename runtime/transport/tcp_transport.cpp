#include "transport/tcp_transport.hpp"

#include "transport/line_connection.hpp"
#include "transport/tls_stream.hpp"

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
  if (channels_.size() >= options_.limits.max_connections) return;  // which closes the socket
  std::error_code error;
  const auto remote = socket.remote_endpoint(error);
  if (error) return;  // gone again
  auto stream = open_stream(io_, std::move(socket), options_.limits, options_.tls.get());
  const auto channel = std::make_shared<Channel>(io_, std::move(stream), options_.limits);
  channels_.add(channel);
  LineConnection::start(channel, {TransportKind::kTcp, to_text(remote)}, options_.limits, accept_);
}

}  // namespace rkllm_mcp
