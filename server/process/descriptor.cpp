#include "process/descriptor.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
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

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(release());
}

DescriptorPair make_stream_pair() { return make_sockets(SOCK_STREAM); }

DescriptorPair make_seqpacket_pair() { return make_sockets(SOCK_SEQPACKET); }

DescriptorPair make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace rkllm_mcp
