// Accepts one client after the other on a listening socket of either kind, until it is closed.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"

#include <asio/basic_socket_acceptor.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>

namespace rkllm_mcp {

template <class Protocol>
class AcceptLoop : public std::enable_shared_from_this<AcceptLoop<Protocol>> {
 public:
  using Socket = typename Protocol::socket;
  using SocketFunction = std::function<void(Socket)>;

  AcceptLoop(asio::io_context& io, SocketFunction accepted)
      : acceptor_(io), retry_(io), accepted_(std::move(accepted)) {}

  typename Protocol::acceptor& acceptor() { return acceptor_; }

  void accept_next() {
    acceptor_.async_accept([self = this->shared_from_this()](const std::error_code& error, Socket socket) {
      if (!self->acceptor_.is_open()) return;
      if (error && error != asio::error::connection_aborted) return self->accept_later();
      self->accept_next();  // first: if accepted_() throws, that costs this client, and not those that come after it
      if (!error) self->accepted_(std::move(socket));
    });
  }

  void stop() {
    std::error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
  }

 private:
  // After an error, which mostly is that the process has no descriptor left.
  void accept_later() {
    constexpr std::chrono::milliseconds kPause{100};
    retry_.expires_after(kPause);
    retry_.async_wait([self = this->shared_from_this()](const std::error_code& error) {
      if (!error && self->acceptor_.is_open()) self->accept_next();
    });
  }

  typename Protocol::acceptor acceptor_;
  Timer retry_;
  SocketFunction accepted_;
};

}  // namespace rkllm_mcp
