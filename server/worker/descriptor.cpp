#include "worker/descriptor.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace rkllm_mcp {
namespace {

DescriptorPair make_sockets(int type) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pair of sockets");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// A message of one byte, with room for one descriptor beside it.
struct Parcel {
  char byte = 0;
  iovec content{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};

  Parcel() {
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;
};

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(release());
}

DescriptorPair make_door() { return make_sockets(SOCK_SEQPACKET); }

DescriptorPair make_stream_pair() { return make_sockets(SOCK_STREAM); }

DescriptorPair make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool pass_descriptor(const Descriptor& door, const Descriptor& descriptor) {
  Parcel parcel;
  cmsghdr* const header = CMSG_FIRSTHDR(&parcel.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = descriptor.number();
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  while (::sendmsg(door.number(), &parcel.message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

std::optional<Descriptor> take_descriptor(const Descriptor& door) {
  Parcel parcel;
  ssize_t size = 0;
  do {
    size = ::recvmsg(door.number(), &parcel.message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  const cmsghdr* const header = CMSG_FIRSTHDR(&parcel.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return Descriptor();
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return Descriptor(number);
}

}  // namespace rkllm_mcp
