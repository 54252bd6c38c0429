#include "transport/bytes/listener.hpp"

#include "transport/bytes/port_holder.hpp"

#include <sys/socket.h>
#include <asio/error.hpp>
#include <asio/ip/address.hpp>

#include <cctype>
#include <utility>

namespace rkllm_mcp {

namespace {

std::string describe(std::string_view transport, const ListenAddress& where, std::error_code reason) {
  const bool is_v6 = where.address.find(':') != std::string::npos;
  auto text = std::string(transport) + ": cannot listen on ";
  if (is_v6) text += '[';
  text += where.address;
  if (is_v6) text += ']';
  text += ":" + std::to_string(where.port) + ": ";
  if (reason == std::errc::invalid_argument) return text + "not an IPv4 or IPv6 address";
  auto message = reason.message();
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  text += message;
  if (reason != asio::error::address_in_use) return text;
  const std::string holder = port_holder(transport == "udp" ? "udp" : "tcp", where.port);
  return holder.empty() ? text : text + " by " + holder;
}

}  // namespace

ListenError::ListenError(std::string_view transport, const ListenAddress& where, std::error_code reason)
    : std::runtime_error(describe(transport, where, reason)), transport_(transport), where_(where), reason_(reason) {}

int family_of(int socket) {
  int family = AF_UNSPEC;
  socklen_t size = sizeof family;
  ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size);
  return family;
}

asio::ip::address parse_address(std::string_view transport, const ListenAddress& where) {
  std::error_code error;
  auto address = asio::ip::make_address(where.address, error);
  if (error) throw ListenError(transport, where, std::make_error_code(std::errc::invalid_argument));
  return address;
}

Listener::Listener(asio::io_context& io, std::string_view transport, const ListenAddress& where,
                   SocketFunction accepted)
    : clients_(std::make_shared<AcceptLoop<asio::ip::tcp>>(io, std::move(accepted))) {
  const asio::ip::tcp::endpoint endpoint(parse_address(transport, where), where.port);
  auto& acceptor = clients_->acceptor();
  std::error_code error;
  if (where.handed >= 0) {
    acceptor.assign(family_of(where.handed) == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), where.handed,
                    error);
    if (error) throw ListenError(transport, where, error);
    clients_->accept_next();
    return;
  }
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw ListenError(transport, where, error);
  clients_->accept_next();
}

std::uint16_t Listener::port() const {
  std::error_code error;
  return clients_->acceptor().local_endpoint(error).port();
}

bool Listener::is_loopback() const {
  std::error_code error;
  return clients_->acceptor().local_endpoint(error).address().is_loopback();
}

}  // namespace rkllm_mcp
