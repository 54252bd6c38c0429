#include "transport/listener.hpp"

#include <asio/error.hpp>
#include <asio/ip/address.hpp>
#include <asio/steady_timer.hpp>

#include <cctype>
#include <chrono>
#include <utility>

namespace rkllm_mcp {

namespace {

// How long to wait when the process has run out of descriptors, before trying to accept again.
constexpr std::chrono::milliseconds kOutOfDescriptors{100};

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
  return text + message;
}

}  // namespace

ListenError::ListenError(std::string_view transport, const ListenAddress& where, std::error_code reason)
    : std::runtime_error(describe(transport, where, reason)), transport_(transport), where_(where), reason_(reason) {}

asio::ip::address parse_address(std::string_view transport, const ListenAddress& where) {
  std::error_code error;
  const auto address = asio::ip::make_address(where.address, error);
  if (error) throw ListenError(transport, where, std::make_error_code(std::errc::invalid_argument));
  return address;
}

struct Listener::State : std::enable_shared_from_this<State> {
  State(asio::io_context& io, SocketFunction function) : acceptor(io), retry(io), accepted(std::move(function)) {}

  void accept_next() {
    acceptor.async_accept([self = shared_from_this()](const std::error_code& error, asio::ip::tcp::socket socket) {
      if (!self->acceptor.is_open()) return;
      if (!error) {
        self->accepted(std::move(socket));
      } else if (error != asio::error::connection_aborted) {
        return self->accept_later();
      }
      if (self->acceptor.is_open()) self->accept_next();
    });
  }

  void accept_later() {
    retry.expires_after(kOutOfDescriptors);
    retry.async_wait([self = shared_from_this()](const std::error_code& error) {
      if (!error && self->acceptor.is_open()) self->accept_next();
    });
  }

  asio::ip::tcp::acceptor acceptor;
  asio::steady_timer retry;
  SocketFunction accepted;
};

Listener::Listener(asio::io_context& io, std::string_view transport, const ListenAddress& where,
                   SocketFunction accepted)
    : state_(std::make_shared<State>(io, std::move(accepted))) {
  const asio::ip::tcp::endpoint endpoint(parse_address(transport, where), where.port);
  auto& acceptor = state_->acceptor;
  std::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw ListenError(transport, where, error);
  state_->accept_next();
}

std::uint16_t Listener::port() const {
  std::error_code error;
  return state_->acceptor.local_endpoint(error).port();
}

bool Listener::is_loopback() const {
  std::error_code error;
  return state_->acceptor.local_endpoint(error).address().is_loopback();
}

void Listener::stop() {
  std::error_code ignored;
  state_->acceptor.close(ignored);
  state_->retry.cancel();
}

}  // namespace rkllm_mcp
