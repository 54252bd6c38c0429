#include "worker/control_socket.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kDescriptors = 2;

// Some bytes, with room for two descriptors beside it.
struct AncillaryBuffer {
  std::array<char, kMostControlBytes> bytes{};
  iovec content{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptors * sizeof(int))> room{};
  msghdr message{};

  AncillaryBuffer() {
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  AncillaryBuffer(const AncillaryBuffer&) = delete;
  AncillaryBuffer& operator=(const AncillaryBuffer&) = delete;
};

}  // namespace

bool pass_sockets(const Descriptor& control, const PassedSockets& sockets) {
  AncillaryBuffer buffer;
  // A message without a byte would look like the end.
  buffer.content.iov_len = sockets.label.copy(buffer.bytes.data(), buffer.bytes.size() - 1) + 1;
  cmsghdr* const header = CMSG_FIRSTHDR(&buffer.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
  const std::array numbers{sockets.ends.first.number(), sockets.ends.second.number()};
  std::memcpy(CMSG_DATA(header), numbers.data(), sizeof numbers);
  while (::sendmsg(control.number(), &buffer.message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

std::optional<PassedSockets> take_sockets(const Descriptor& control) {
  AncillaryBuffer buffer;
  ssize_t size = 0;
  do {
    size = ::recvmsg(control.number(), &buffer.message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  PassedSockets sockets{std::string(buffer.bytes.data(), static_cast<std::size_t>(size) - 1), {}};
  const cmsghdr* const header = CMSG_FIRSTHDR(&buffer.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return sockets;
  std::array<int, kDescriptors> numbers{-1, -1};
  // Fewer arrive if this process may open no more.
  std::memcpy(numbers.data(), CMSG_DATA(header), std::min(sizeof numbers, header->cmsg_len - CMSG_LEN(0)));
  sockets.ends = {Descriptor(numbers[0]), Descriptor(numbers[1])};
  return sockets;
}

}  // namespace rkllm_mcp
