#include "support/lossy_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp::test {
namespace {

constexpr int kReceiveBuffer = 4 * 1024 * 1024;  // what is lost is to be lost on purpose
constexpr unsigned kLatest = 8;                  // a late datagram is overtaken by at most so many

void check(bool succeeded, const char* what) {
  if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in here(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int new_socket() {
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  check(descriptor >= 0, "socket");
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  return descriptor;
}

// Nobody may be there any more; that is a loss like any other.
void send_on(int to, std::string_view datagram) { (void)::send(to, datagram.data(), datagram.size(), MSG_NOSIGNAL); }

}  // namespace

LossyProxy::LossyProxy(std::uint16_t server_port, unsigned seed, const Odds& odds)
    : odds_(odds), to_server_{std::mt19937(seed), {}, {}}, to_client_{std::mt19937(~seed), {}, {}} {
  client_side_ = new_socket();
  server_side_ = new_socket();
  const auto any = here(0);
  check(::bind(client_side_, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0, "bind");
  const auto server = here(server_port);
  check(::connect(server_side_, reinterpret_cast<const sockaddr*>(&server), sizeof server) == 0, "connect");
  check(::pipe(stop_.data()) == 0, "pipe");
  thread_ = std::thread([this] { run(); });
}

LossyProxy::~LossyProxy() {
  ::close(stop_[1]);
  thread_.join();
  for (const int descriptor : {client_side_, server_side_, stop_[0]}) ::close(descriptor);
}

std::uint16_t LossyProxy::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  check(::getsockname(client_side_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "getsockname");
  return ntohs(address.sin_port);
}

LossyProxy::Counts LossyProxy::to_server() const {
  const std::lock_guard lock(mutex_);
  return to_server_.counts;
}

LossyProxy::Counts LossyProxy::to_client() const {
  const std::lock_guard lock(mutex_);
  return to_client_.counts;
}

void LossyProxy::run() {
  // The first datagram tells who the client is.
  sockaddr_in client{};
  socklen_t size = sizeof client;
  std::array<pollfd, 3> events{{{stop_[0], POLLIN, 0}, {client_side_, POLLIN, 0}, {server_side_, POLLIN, 0}}};
  if (::poll(events.data(), 2, -1) < 0 || events[0].revents != 0) return;
  char first = 0;
  if (::recvfrom(client_side_, &first, 1, MSG_PEEK, reinterpret_cast<sockaddr*>(&client), &size) < 0) return;
  if (::connect(client_side_, reinterpret_cast<const sockaddr*>(&client), size) != 0) return;

  while (::poll(events.data(), events.size(), -1) >= 0 && events[0].revents == 0) {
    if (events[1].revents != 0) relay(client_side_, server_side_, to_server_);
    if (events[2].revents != 0) relay(server_side_, client_side_, to_client_);
  }
}

void LossyProxy::relay(int from, int to, Direction& direction) {
  std::string datagram(65'536, '\0');
  const auto bytes = ::recv(from, datagram.data(), datagram.size(), 0);
  if (bytes < 0) return;  // "nobody there", about something sent earlier
  datagram.resize(static_cast<std::size_t>(bytes));
  decide(std::move(datagram), to, direction);
}

void LossyProxy::decide(std::string datagram, int to, Direction& direction) {
  const std::lock_guard lock(mutex_);
  Counts& counts = direction.counts;
  ++counts.came;
  counts.longest = std::max(counts.longest, datagram.size());
  const auto fate = direction.dice() % 100;
  if (fate < odds_.lost) {
    ++counts.lost;
  } else if (fate < odds_.lost + odds_.late) {
    ++counts.late;
    direction.late.push_back({std::move(datagram), counts.came + 1 + direction.dice() % kLatest});
  } else {
    send_on(to, datagram);
    if (fate < odds_.lost + odds_.late + odds_.doubled) {
      ++counts.doubled;
      send_on(to, datagram);
    }
  }
  std::erase_if(direction.late, [&](const Late& late) {
    if (late.after > counts.came) return false;
    send_on(to, late.datagram);
    return true;
  });
}

}  // namespace rkllm_mcp::test
