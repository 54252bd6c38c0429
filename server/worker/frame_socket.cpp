#include "worker/frame_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

iovec bytes_of(std::string_view text) { return {const_cast<char*>(text.data()), text.size()}; }

// The first `sent` bytes of the pieces have left.
void drop(std::span<iovec> pieces, std::size_t sent) {
  for (iovec& piece : pieces) {
    const std::size_t of_piece = std::min(sent, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + of_piece;
    piece.iov_len -= of_piece;
    sent -= of_piece;
  }
}

}  // namespace

void FrameSocket::send(FrameHead head, std::string_view first, std::string_view rest) {
  const auto flags = head.flags;
  const std::lock_guard lock(sending_);
  do {
    const auto part = rest.substr(0, kMaxFrameBytes - first.size());
    rest.remove_prefix(part.size());
    head.bytes = static_cast<std::uint32_t>(first.size() + part.size());
    head.flags = rest.empty() ? flags : static_cast<std::uint16_t>(flags | kMoreFollows);
    std::array<iovec, 3> pieces{iovec{&head, sizeof head}, bytes_of(first), bytes_of(part)};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    for (std::size_t left = sizeof head + head.bytes; left > 0;) {
      const ssize_t sent = ::sendmsg(socket_.number(), &message, MSG_NOSIGNAL);
      if (sent < 0) {
        wait_or_throw(errno, POLLOUT);
        continue;
      }
      left -= static_cast<std::size_t>(sent);
      drop(pieces, static_cast<std::size_t>(sent));
    }
    first = {};
  } while (!rest.empty());
}

bool FrameSocket::try_send(FrameHead head) {
  const std::lock_guard lock(sending_);
  // So few bytes a socket takes whole or not at all.
  return ::send(socket_.number(), &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t{sizeof head};
}

void FrameSocket::look_while_waiting(std::chrono::milliseconds interval, std::function<void()> look) {
  look_ = std::move(look);
  interval_ms_ = static_cast<int>(interval.count());
  const int flags = ::fcntl(socket_.number(), F_GETFL);
  ::fcntl(socket_.number(), F_SETFL, flags | O_NONBLOCK);
}

void FrameSocket::wait_or_throw(int error, short event) const {
  if (error == EINTR) return;
  if (error == EAGAIN || error == EWOULDBLOCK) {
    if (look_) look_();
    pollfd waited{socket_.number(), event, 0};
    poll_descriptors(&waited, 1, look_ ? interval_ms_ : -1);
    return;
  }
  if (error == EPIPE || error == ECONNRESET) throw PeerGone();
  throw std::system_error(error, std::generic_category(), "a worker's socket");
}

Frame FrameSocket::receive() {
  while (true) {
    if (const auto frame = reader_.next()) return *frame;
    const auto room = reader_.room();
    const ssize_t got = ::recv(socket_.number(), room.data(), room.size(), 0);
    if (got == 0) throw PeerGone();
    if (got < 0) {
      wait_or_throw(errno, POLLIN);
    } else {
      reader_.filled(static_cast<std::size_t>(got));
    }
  }
}

Descriptor FrameSocket::duplicate() const {
  Descriptor duplicate(::fcntl(socket_.number(), F_DUPFD_CLOEXEC, 0));
  if (duplicate.number() < 0) throw std::system_error(errno, std::generic_category(), "a worker's socket");
  return duplicate;
}

void FrameSocket::shut_down() { ::shutdown(socket_.number(), SHUT_RDWR); }

}  // namespace rkllm_mcp
