#include "client/sockets/socket.hpp"

#include "client/sockets/spoken_protocol.hpp"
#include "clock.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::seconds kTakePatience{30};
constexpr std::chrono::seconds kToVanish{60};  // until a host that answers nothing has gone
constexpr std::chrono::seconds kBetweenProbes{15};
constexpr int kDatagramBuffer = 4 * 1024 * 1024;  // bytes; the system gives what it allows

[[noreturn]] void fail_to_connect(const std::string& where, const std::string& reason) {
  throw Unreachable(where + ": " + reason);
}

[[noreturn]] void fail(const std::string& where, const std::string& reason) {
  throw ConnectionError(where + ": " + reason);
}

void set_option(int descriptor, int level, int name, int value) {
  ::setsockopt(descriptor, level, name, &value, sizeof value);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

// The addresses of a host, or why there are none.
struct Resolved {
  Resolved(const Endpoint& endpoint, int kind) {
    addrinfo hints{};
    hints.ai_socktype = kind;
    addrinfo* list = nullptr;
    const int error = ::getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list);
    if (error == 0) {
      addresses.reset(list);
    } else {
      complaint = "the name cannot be resolved (" + std::string(::gai_strerror(error)) + ")";
    }
  }

  std::unique_ptr<addrinfo, FreeAddresses> addresses;
  std::string complaint;  // empty: there are addresses
};

}  // namespace

std::string why_no_address(const Endpoint& endpoint) { return Resolved(endpoint, SOCK_STREAM).complaint; }

void notice_vanished_host(int descriptor) {
  const auto seconds = [](std::chrono::seconds time) { return static_cast<int>(time.count()); };
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, seconds(kBetweenProbes));
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, seconds(kBetweenProbes));
  set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(std::chrono::milliseconds(kToVanish).count()));
}

Socket::Socket(Kind kind, const Endpoint& endpoint, Clock::time_point deadline) : where_(endpoint.authority()) {
  if (endpoint.protocol == Protocol::kUnix) {
    connect_to_file(endpoint.path, deadline);
    return;
  }
  const Resolved resolved(endpoint, kind == Kind::kStream ? SOCK_STREAM : SOCK_DGRAM);
  if (!resolved.complaint.empty()) throw UnknownHost(where_ + ": " + resolved.complaint);
  for (const addrinfo* address = resolved.addresses.get(); address != nullptr; address = address->ai_next) {
    if (!try_address(*address, deadline)) continue;
    if (endpoint.speaks_tls()) shake_hands(endpoint, deadline);
    return;
  }
  fail_to_connect(where_, std::strerror(errno));
}

Socket::Socket(int connected, std::string where) : where_(std::move(where)), descriptor_(connected) {
  ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
}

Socket::~Socket() {
  if (tls_) {
    try {
      tls_->say_goodbye();
      outgoing_.add(tls_->take_output());
      flush();
    } catch (const ConnectionError&) {
      // The server has gone first.
    }
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Socket::connect_to_file(const std::string& path, Clock::time_point deadline) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) fail(path, std::strerror(ENAMETOOLONG));
  path.copy(name.sun_path, path.size());
  addrinfo address{};
  address.ai_family = AF_UNIX;
  address.ai_socktype = SOCK_STREAM;
  address.ai_addr = reinterpret_cast<sockaddr*>(&name);
  address.ai_addrlen = sizeof name;
  if (!try_address(address, deadline)) fail_to_connect(where_, std::strerror(errno));
}

bool Socket::try_address(const addrinfo& address, Clock::time_point deadline) {
  descriptor_ = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol);
  if (descriptor_ < 0) return false;
  int error = ::connect(descriptor_, address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (wait_for(POLLOUT, deadline)) ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error == 0) {
    if (address.ai_socktype == SOCK_STREAM) {
      set_option(descriptor_, IPPROTO_TCP, TCP_NODELAY, 1);
      if (address.ai_family != AF_UNIX) notice_vanished_host(descriptor_);
    } else {
      set_option(descriptor_, SOL_SOCKET, SO_RCVBUF, kDatagramBuffer);
    }
    return true;
  }
  ::close(descriptor_);
  descriptor_ = -1;
  errno = error;
  return false;
}

bool Socket::wait_for(short events, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const auto bounded = std::clamp<long long>(left, 0, std::numeric_limits<int>::max());
    pollfd ready{descriptor_, events, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(bounded));
    // Asked whatever poll says: it reports a datagram socket that is shut down as readable, though nothing is there.
    if (is_shut_down_) fail(where_, "interrupted");
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) fail(where_, std::strerror(errno));
  }
}

void Socket::shake_hands(const Endpoint& endpoint, Clock::time_point deadline) try {
  tls_ = std::make_unique<TlsSession>(endpoint);
  for (;;) {
    const bool is_done = tls_->shake_hands();
    send_plain(tls_->take_output());
    if (is_done) return;
    std::array<char, 16384> buffer;
    const auto size = receive_plain(buffer, deadline);
    if (!size) fail(where_, "no answer to the TLS handshake");
    if (*size == 0) fail(where_, "the server ended the TLS handshake");
    tls_->give({buffer.data(), *size});
  }
} catch (const ConnectionError& error) {
  tls_.reset();
  // The constructor fails, so ~Socket() will not close it.
  ::close(std::exchange(descriptor_, -1));
  // A server that shows a certificate speaks TLS: no hint at another protocol.
  if (dynamic_cast<const UntrustedServer*>(&error) != nullptr) throw;
  if (dynamic_cast<const MisnamedServer*>(&error) != nullptr) throw;
  throw ConnectionError(error.what() + hint_at_protocol(endpoint));
}

bool Socket::flush() {
  while (!outgoing_.empty()) {
    const std::string_view rest = outgoing_.rest();
    const auto sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      outgoing_.sent(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return false;
    } else if (errno != EINTR) {
      fail(where_, std::strerror(errno));
    }
  }
  return true;
}

void Socket::send_outgoing(Clock::time_point deadline) {
  for (;;) {
    {
      const std::lock_guard lock(tls_mutex_);
      if (flush()) return;
    }
    if (!wait_for(POLLOUT, deadline)) fail(where_, "takes nothing");
  }
}

void Socket::send(std::string_view bytes) {
  if (!tls_) return send_plain(bytes);
  {
    const std::lock_guard lock(tls_mutex_);
    tls_->write(bytes);
    outgoing_.add(tls_->take_output());
  }
  send_outgoing(Clock::now() + kTakePatience);
}

void Socket::send_plain(std::string_view bytes) {
  const auto deadline = Clock::now() + kTakePatience;
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(POLLOUT, deadline)) fail(where_, "takes nothing");
    } else if (errno != EINTR) {
      fail(where_, std::strerror(errno));
    }
  }
}

bool Socket::try_send_encrypted(std::string_view bytes) {
  const std::lock_guard lock(tls_mutex_);
  if (!flush()) return false;
  tls_->write(bytes);
  outgoing_.add(tls_->take_output());
  flush();  // what is left goes with what is sent next
  return true;
}

bool Socket::try_send(std::string_view bytes) {
  if (tls_) return try_send_encrypted(bytes);
  const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  if (sent < 0) fail(where_, std::strerror(errno));
  if (static_cast<std::size_t>(sent) < bytes.size()) fail(where_, "took half a message");
  return true;
}

void Socket::shut_down() {
  is_shut_down_ = true;
  ::shutdown(descriptor_, SHUT_RDWR);
}

std::optional<std::size_t> Socket::receive(std::span<char> buffer, Clock::time_point deadline) {
  return tls_ ? receive_encrypted(buffer, deadline) : receive_plain(buffer, deadline);
}

std::optional<std::size_t> Socket::receive_encrypted(std::span<char> buffer, Clock::time_point deadline) {
  for (;;) {
    {
      const std::lock_guard lock(tls_mutex_);
      const auto size = tls_->read(buffer);
      outgoing_.add(tls_->take_output());  // answers of TLS itself
      flush();
      if (size) return size;
    }
    std::array<char, 16384> received;
    const auto size = receive_plain(received, deadline);
    if (!size || *size == 0) return size;
    const std::lock_guard lock(tls_mutex_);
    tls_->give({received.data(), *size});
  }
}

std::optional<std::size_t> Socket::receive_plain(std::span<char> buffer, Clock::time_point deadline) {
  for (;;) {
    if (is_shut_down_) fail(where_, "interrupted");  // datagrams would go on to be received
    const auto size = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(POLLIN, deadline)) return std::nullopt;
    } else if (errno == ECONNREFUSED) {  // of an earlier datagram
      fail_to_connect(where_, std::strerror(errno));
    } else if (errno != EINTR) {
      fail(where_, std::strerror(errno));
    }
  }
}

}  // namespace rkllm_mcp::client
