// A listening TCP socket: opens it or says exactly why not, and hands over every client that connects.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/accept_loop.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace rkllm_mcp {

struct ListenAddress {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 literal
  std::uint16_t port = 0;             // 0 = any free one
  // A socket that is bound there already (and listens, unless it is UDP's), to be taken over; -1 = none.
  int handed = -1;
};

// AF_INET or AF_INET6.
int family_of(int socket);

// A transport cannot be opened: "tcp: cannot listen on 127.0.0.1:8081: address already in use". Whoever knows the name
// of the setting behind it adds that.
class ListenError : public std::runtime_error {
 public:
  ListenError(std::string_view transport, const ListenAddress& where, std::error_code reason);

  const std::string& transport() const { return transport_; }
  const ListenAddress& where() const { return where_; }
  std::error_code reason() const { return reason_; }

 private:
  std::string transport_;
  ListenAddress where_;
  std::error_code reason_;
};

// The address as asio takes it; throws ListenError (invalid_argument) for what is not a literal.
asio::ip::address parse_address(std::string_view transport, const ListenAddress& where);

class Listener {
 public:
  using SocketFunction = AcceptLoop<asio::ip::tcp>::SocketFunction;

  // Throws ListenError. `transport` is the name used in that message.
  Listener(asio::io_context& io, std::string_view transport, const ListenAddress& where, SocketFunction accepted);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { stop(); }

  std::uint16_t port() const;
  bool is_loopback() const;
  void stop() { clients_->stop(); }  // the port is free afterwards; clients accepted before are not touched

 private:
  std::shared_ptr<AcceptLoop<asio::ip::tcp>> clients_;
};

// Which process has a port, as far as /proc shows it to this user: "process 4711 (rkllm-mcp)"; empty if it is not
// known. `protocol` is "tcp" or "udp".
std::string port_holder(std::string_view protocol, std::uint16_t port);

}  // namespace rkllm_mcp
