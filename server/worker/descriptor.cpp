#include "worker/descriptor.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

constexpr std::size_t kDescriptors = 2;

// A message of some bytes, with room for two descriptors beside it.
struct Envelope {
  std::array<char, kMostParcelBytes> bytes{};
  iovec content{bytes.data(), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptors * sizeof(int))> room{};
  msghdr message{};

  Envelope() {
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
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

bool pass_parcel(const Descriptor& door, const Parcel& parcel) {
  Envelope envelope;
  // A message without a byte would look like the end.
  envelope.content.iov_len = parcel.label.copy(envelope.bytes.data(), envelope.bytes.size() - 1) + 1;
  cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kDescriptors * sizeof(int));
  const std::array numbers{parcel.descriptors.first.number(), parcel.descriptors.second.number()};
  std::memcpy(CMSG_DATA(header), numbers.data(), sizeof numbers);
  while (::sendmsg(door.number(), &envelope.message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

std::optional<Parcel> take_parcel(const Descriptor& door) {
  Envelope envelope;
  ssize_t size = 0;
  do {
    size = ::recvmsg(door.number(), &envelope.message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return std::nullopt;
  Parcel parcel{std::string(envelope.bytes.data(), static_cast<std::size_t>(size) - 1), {}};
  const cmsghdr* const header = CMSG_FIRSTHDR(&envelope.message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return parcel;
  std::array<int, kDescriptors> numbers{-1, -1};
  // Fewer arrive if this process may open no more.
  std::memcpy(numbers.data(), CMSG_DATA(header), std::min(sizeof numbers, header->cmsg_len - CMSG_LEN(0)));
  parcel.descriptors = {Descriptor(numbers[0]), Descriptor(numbers[1])};
  return parcel;
}

}  // namespace rkllm_mcp
