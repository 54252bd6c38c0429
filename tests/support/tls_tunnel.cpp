#include "support/tls_tunnel.hpp"

#include "support/tls_socket.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp::test {

TlsTunnel::TlsTunnel(std::uint16_t to, std::string trusted) : to_(to), trusted_(std::move(trusted)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, name, size) != 0 || ::listen(listener_, SOMAXCONN) != 0 ||
      ::getsockname(listener_, name, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "TlsTunnel");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { serve(); });
}

TlsTunnel::~TlsTunnel() {
  ::shutdown(listener_, SHUT_RDWR);  // which ends accept()
  acceptor_.join();
  ::close(listener_);
  for (auto& client : clients_) client.join();
}

void TlsTunnel::serve() {
  for (int client = 0; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    clients_.emplace_back([this, client] {
      try {
        TlsSocket(to_, {.trusted = trusted_}).carry(client);
      } catch (const std::runtime_error&) {
        ::close(client);  // which its user will notice
      }
    });
  }
}

}  // namespace rkllm_mcp::test
