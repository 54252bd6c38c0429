#include "support/tls_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr timeval kPatience{60, 0};

[[noreturn]] void fail(const std::string& what) {
  const char* reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  throw std::runtime_error("TLS: " + what + ": " + (reason != nullptr ? reason : std::strerror(errno)));
}

int connect_to(std::uint16_t port, int receive_buffer) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (receive_buffer > 0) ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    ::close(descriptor);
    throw std::system_error(error, std::generic_category(), "connect");
  }
  return descriptor;
}

}  // namespace

void TlsSocket::Free::operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
void TlsSocket::Free::operator()(SSL* session) const { ::SSL_free(session); }

TlsSocket::TlsSocket(std::uint16_t port, const Options& options)
    : descriptor_(connect_to(port, options.receive_buffer)), context_(::SSL_CTX_new(::TLS_client_method())) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL sends with write()
  ::ERR_clear_error();
  if (options.newest_version != 0) {
    ::SSL_CTX_set_security_level(context_.get(), 0);  // which old versions need
    ::SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    ::SSL_CTX_set_max_proto_version(context_.get(), options.newest_version);
  }
  ::SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  try {
    if (::SSL_CTX_load_verify_locations(context_.get(), options.trusted.c_str(), nullptr) != 1) fail(options.trusted);
    session_.reset(::SSL_new(context_.get()));
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(session_.get()), "127.0.0.1");
    ::SSL_clear_mode(session_.get(), SSL_MODE_AUTO_RETRY);  // carry() must not wait for what does not come
    ::SSL_set_fd(session_.get(), descriptor_);
    if (::SSL_connect(session_.get()) != 1) fail("no handshake");
  } catch (...) {
    close();
    throw;
  }
}

TlsSocket::~TlsSocket() { close(); }

std::string TlsSocket::version() const { return ::SSL_get_version(session_.get()); }

std::string TlsSocket::server_name() const {
  std::array<char, 256> name{};
  X509* certificate = ::SSL_get_peer_certificate(session_.get());
  ::X509_NAME_get_text_by_NID(::X509_get_subject_name(certificate), NID_commonName, name.data(), name.size());
  ::X509_free(certificate);
  return name.data();
}

void TlsSocket::send(std::string_view bytes) {
  std::size_t written = 0;
  ::ERR_clear_error();
  if (::SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &written) != 1) fail("cannot send");
}

bool TlsSocket::read_some() {
  std::array<char, 65536> buffer;
  for (;;) {
    std::size_t bytes = 0;
    ::ERR_clear_error();
    errno = 0;
    if (::SSL_read_ex(session_.get(), buffer.data(), buffer.size(), &bytes) == 1) {
      received_.append(buffer.data(), bytes);
      return true;
    }
    switch (::SSL_get_error(session_.get(), 0)) {
      case SSL_ERROR_ZERO_RETURN: end_ = End::kNotified; return false;
      case SSL_ERROR_WANT_READ:
        if (errno == EAGAIN || errno == EWOULDBLOCK) throw std::runtime_error("TLS: nothing came in time");
        break;  // a message of TLS itself
      default: end_ = End::kCut; return false;
    }
  }
}

std::string TlsSocket::receive_until(std::string_view mark) {
  auto at = received_.find(mark);
  for (; at == std::string::npos; at = received_.find(mark)) {
    if (!read_some()) throw std::runtime_error("TLS: the connection ended before " + std::string(mark));
  }
  std::string taken = received_.substr(0, at + mark.size());
  received_.erase(0, taken.size());
  return taken;
}

std::string TlsSocket::receive_rest() {
  while (read_some()) {
  }
  return std::exchange(received_, {});
}

void TlsSocket::send_close_notify() { ::SSL_shutdown(session_.get()); }

void TlsSocket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void TlsSocket::carry(int other) {
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{descriptor_, POLLIN, 0}, pollfd{other, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) break;
    if (ready[1].revents != 0) {
      const auto bytes = ::recv(other, buffer.data(), buffer.size(), 0);
      if (bytes <= 0) break;
      std::size_t written = 0;
      if (::SSL_write_ex(session_.get(), buffer.data(), static_cast<std::size_t>(bytes), &written) != 1) break;
    }
    if (ready[0].revents == 0) continue;
    int result = 1;
    do {
      std::size_t bytes = 0;
      ::ERR_clear_error();
      result = ::SSL_read_ex(session_.get(), buffer.data(), buffer.size(), &bytes);
      if (result == 1) ::send(other, buffer.data(), bytes, MSG_NOSIGNAL);
    } while (result == 1 && ::SSL_pending(session_.get()) > 0);
    if (result != 1 && ::SSL_get_error(session_.get(), result) != SSL_ERROR_WANT_READ) break;
  }
  send_close_notify();
  close();
  ::close(other);
}

}  // namespace rkllm_mcp::test
