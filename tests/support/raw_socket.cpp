#include "support/raw_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

void check(int result, const char* what) {
  if (result != 0) throw std::system_error(errno, std::generic_category(), what);
}

bool is_v6(const std::string& address) { return address.find(':') != std::string::npos; }

bool wait_for(int descriptor, short events, RawSocket::Duration time) {
  pollfd ready{descriptor, events, 0};
  return ::poll(&ready, 1, static_cast<int>(time.count())) == 1;
}

}  // namespace

RawSocket::RawSocket(std::uint16_t port, int receive_buffer, const std::string& address)
    : descriptor_(::socket(is_v6(address) ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer != kUsualBuffer) {
    check(::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer), "SO_RCVBUF");
  }
  const int on = 1;  // or packets are joined that a test wants apart
  check(::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
  if (is_v6(address)) {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(port);
    ::inet_pton(AF_INET6, address.c_str(), &at.sin6_addr);
    check(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&at), sizeof at), "connect");
  } else {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
    check(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&at), sizeof at), "connect");
  }
}

RawSocket::RawSocket(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::invalid_argument("too long for a Unix socket: " + path);
  path.copy(address.sun_path, path.size());
  check(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
}

void RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    check(sent < 0 ? -1 : 0, "send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t RawSocket::send_some(std::string_view bytes, Duration patience) {
  std::size_t total = 0;
  while (total < bytes.size() && wait_for(descriptor_, POLLOUT, patience)) {
    const auto sent = ::send(descriptor_, bytes.data() + total, bytes.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) break;
    if (sent > 0) total += static_cast<std::size_t>(sent);
  }
  return total;
}

RawSocket::Read RawSocket::read_some(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<Duration>(deadline - Clock::now()).count();
  pollfd ready{descriptor_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, left))) <= 0) return Read::kTimeout;
  std::array<char, 65536> buffer;
  const auto count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
  if (count <= 0) return Read::kEnd;
  received_.append(buffer.data(), static_cast<std::size_t>(count));
  return Read::kBytes;
}

std::string RawSocket::receive_until(std::string_view mark, Duration patience) {
  const auto deadline = Clock::now() + patience;
  std::size_t searched = 0;
  for (;;) {
    if (const auto found = received_.find(mark, searched); found != std::string::npos) {
      return receive(found + mark.size(), patience);
    }
    searched = received_.size() < mark.size() ? 0 : received_.size() - mark.size() + 1;
    if (read_some(deadline) != Read::kBytes) throw std::runtime_error("no answer, only: " + received_);
  }
}

std::string RawSocket::receive_line() {
  std::string line = receive_until("\n");
  line.pop_back();
  return line;
}

std::string RawSocket::receive(std::size_t bytes, Duration patience) {
  const auto deadline = Clock::now() + patience;
  while (received_.size() < bytes) {
    if (read_some(deadline) != Read::kBytes) throw std::runtime_error("no answer, only: " + received_);
  }
  std::string result = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return result;
}

std::string RawSocket::receive_rest() {
  const auto deadline = Clock::now() + kPatience;
  Read last = Read::kBytes;
  while (last == Read::kBytes) last = read_some(deadline);
  if (last == Read::kTimeout) throw std::runtime_error("the other side does not end the connection");
  return std::exchange(received_, {});
}

std::string RawSocket::receive_available() {
  while (read_some(Clock::now()) == Read::kBytes) {
  }
  return std::exchange(received_, {});
}

bool RawSocket::is_silent_for(Duration time) { return received_.empty() && !wait_for(descriptor_, POLLIN, time); }

bool RawSocket::ends(Duration patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    received_.clear();
    switch (read_some(deadline)) {
      case Read::kBytes: break;
      case Read::kEnd: return true;
      case Read::kTimeout: return false;
    }
  }
}

void RawSocket::finish_sending() { ::shutdown(descriptor_, SHUT_WR); }

void RawSocket::reset() {
  const linger at_once{1, 0};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void RawSocket::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace rkllm_mcp::test
