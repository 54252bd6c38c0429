#include "raw_client.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rkllm_mcp::test {

namespace {

constexpr int kPatienceMs = 60'000;

bool wait_for(int socket, short events, int milliseconds) {
  pollfd state{socket, events, 0};
  return ::poll(&state, 1, milliseconds) == 1;
}

int connect_to(std::uint16_t port, const RawClient::Options& options) {
  const bool is_v6 = options.address.find(':') != std::string::npos;
  const int socket = ::socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (options.receive_buffer > 0) {
    ::setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &options.receive_buffer, sizeof options.receive_buffer);
  }
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  int result = 0;
  if (is_v6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    ::inet_pton(AF_INET6, options.address.c_str(), &address.sin6_addr);
    result = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr);
    result = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  if (result != 0) throw std::system_error(errno, std::system_category(), "connect");
  return socket;
}

}  // namespace

RawClient::RawClient(std::uint16_t port) : RawClient(port, Options{}) {}

RawClient::RawClient(std::uint16_t port, const Options& options) : socket_(connect_to(port, options)) {}

RawClient::~RawClient() { close(); }

void RawClient::send(std::string_view bytes) {
  while (!bytes.empty() && wait_for(socket_, POLLOUT, kPatienceMs)) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return;
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::size_t RawClient::send_until_stuck(std::string_view bytes) {
  std::size_t total = 0;
  while (total < bytes.size() && wait_for(socket_, POLLOUT, 200)) {
    const auto sent = ::send(socket_, bytes.data() + total, bytes.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) break;
    if (sent > 0) total += static_cast<std::size_t>(sent);
  }
  return total;
}

void RawClient::finish_sending() { ::shutdown(socket_, SHUT_WR); }

void RawClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void RawClient::reset() {
  const linger now{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

bool RawClient::fill() {
  if (ended_ || !wait_for(socket_, POLLIN, kPatienceMs)) return false;
  std::array<char, 65'536> piece{};
  const auto received = ::recv(socket_, piece.data(), piece.size(), 0);
  if (received <= 0) {
    ended_ = true;
    return false;
  }
  buffer_.append(piece.data(), static_cast<std::size_t>(received));
  return true;
}

std::optional<std::string> RawClient::read(std::size_t bytes) {
  while (buffer_.size() < bytes) {
    if (!fill()) return std::nullopt;
  }
  auto result = buffer_.substr(0, bytes);
  buffer_.erase(0, bytes);
  return result;
}

std::optional<std::string> RawClient::read_line() {
  auto line = read_through("\n");
  if (line) line->pop_back();
  return line;
}

std::optional<std::string> RawClient::read_through(std::string_view end) {
  std::size_t searched = 0;
  while (true) {
    const auto found = buffer_.find(end, searched);
    if (found != std::string::npos) return read(found + end.size());
    searched = buffer_.size() < end.size() ? 0 : buffer_.size() - end.size() + 1;
    if (!fill()) return std::nullopt;
  }
}

std::optional<std::string> RawClient::read_to_end() {
  while (fill()) {
  }
  if (!ended_) return std::nullopt;
  auto result = std::move(buffer_);
  buffer_.clear();
  return result;
}

bool RawClient::is_silent_for(int milliseconds) { return buffer_.empty() && !wait_for(socket_, POLLIN, milliseconds); }

}  // namespace rkllm_mcp::test
