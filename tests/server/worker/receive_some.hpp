// What there is to be received, if anything, without waiting for it.
#pragma once

#include "worker/frame_socket.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace rkllm_mcp::test {

inline void receive_some(FrameSocket& socket) {
  const Descriptor duplicate = socket.duplicate();
  const auto room = socket.room();
  const ssize_t got = ::recv(duplicate.number(), room.data(), room.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) throw PeerGone();
  if (got > 0) return socket.filled(static_cast<std::size_t>(got));
  if (errno != EAGAIN) throw std::system_error(errno, std::generic_category(), "a worker's socket");
}

}  // namespace rkllm_mcp::test
