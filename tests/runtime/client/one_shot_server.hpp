// Listens on a port of this host, takes one client, and does with it what the test wants, on a thread of its own.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

namespace rkllm_mcp::test {

class OneShotServer {
 public:
  // The client's socket is closed after `serve`.
  explicit OneShotServer(std::function<void(int client)> serve) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof name;
    auto* const address = reinterpret_cast<sockaddr*>(&name);
    if (::bind(listener_, address, size) != 0 || ::listen(listener_, 1) != 0) throw std::runtime_error("cannot listen");
    ::getsockname(listener_, address, &size);
    port_ = ntohs(name.sin_port);
    thread_ = std::thread([this, serve = std::move(serve)] {
      const int client = accept();
      if (client < 0) return;
      serve(client);
      ::close(client);
    });
  }
  OneShotServer(const OneShotServer&) = delete;
  OneShotServer& operator=(const OneShotServer&) = delete;
  ~OneShotServer() {
    stop_listening();
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }

  // Another client, from `serve`, which then has to close it; -1 if none comes any more.
  int accept() const { return ::accept(listener_, nullptr, nullptr); }
  void stop_listening() const { ::shutdown(listener_, SHUT_RDWR); }

  // False when the client has closed the connection.
  static bool send(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  const int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace rkllm_mcp::test
