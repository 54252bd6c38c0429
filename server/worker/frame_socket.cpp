#include "worker/frame_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace rkllm_mcp {

void FrameSocket::send(FrameHead head, std::string_view content) {
  head.bytes = static_cast<std::uint32_t>(content.size());
  std::array<iovec, 2> parts{iovec{&head, sizeof head}, iovec{const_cast<char*>(content.data()), content.size()}};
  const std::lock_guard lock(sending_);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  std::size_t left = sizeof head + content.size();
  while (true) {
    const ssize_t sent = ::sendmsg(socket_.number(), &message, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      throw PeerGone();
    }
    left -= static_cast<std::size_t>(sent);
    if (left == 0) return;
    auto done = static_cast<std::size_t>(sent);
    for (iovec& part : parts) {
      const std::size_t of_part = std::min(done, part.iov_len);
      part.iov_base = static_cast<char*>(part.iov_base) + of_part;
      part.iov_len -= of_part;
      done -= of_part;
    }
  }
}

void FrameSocket::send_text(FrameHead head, std::string_view prefix, std::string_view text) {
  std::string first(prefix);
  const auto begins = text.substr(0, kMaxFrameBytes - first.size());
  first += begins;
  text.remove_prefix(begins.size());
  std::string_view content = first;
  while (true) {
    if (!text.empty()) head.flags |= kMoreFollows;
    send(head, content);
    if (text.empty()) return;
    content = text.substr(0, kMaxFrameBytes);
    text.remove_prefix(content.size());
    head.flags &= static_cast<std::uint16_t>(~kMoreFollows);
  }
}

void FrameSocket::set_patience(std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const std::chrono::microseconds rest = patience - seconds;
  const timeval time{static_cast<time_t>(seconds.count()), static_cast<suseconds_t>(rest.count())};
  ::setsockopt(socket_.number(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

std::optional<Frame> FrameSocket::receive() {
  while (true) {
    if (auto frame = reader_.next()) return frame;
    const auto room = reader_.room();
    const ssize_t got = ::recv(socket_.number(), room.data(), room.size(), 0);
    if (got > 0) {
      reader_.filled(static_cast<std::size_t>(got));
    } else if (got == 0) {
      throw PeerGone();
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return std::nullopt;
    } else if (errno != EINTR) {
      throw PeerGone();
    }
  }
}

void FrameSocket::shut_down() { ::shutdown(socket_.number(), SHUT_RDWR); }

}  // namespace rkllm_mcp
