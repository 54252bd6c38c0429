#include "transport/bytes/descriptor_stream.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rkllm_mcp {

namespace {

// A descriptor of our own for the file behind `descriptor`: opened anew where that is possible and harmless, else a
// duplicate. Not for regular files, whose position a new opening would lose.
int own_descriptor(int descriptor, int access) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw std::system_error(errno, std::system_category(), "standard stream");
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    const auto path = "/proc/self/fd/" + std::to_string(descriptor);
    const int opened = ::open(path.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened >= 0) return opened;
  }
  const int duplicate = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) throw std::system_error(errno, std::system_category(), "standard stream");
  return duplicate;
}

void close_and_restore(asio::posix::stream_descriptor& stream, int flags) {
  if (!stream.is_open()) return;
  ::fcntl(stream.native_handle(), F_SETFL, flags);
  std::error_code ignored;
  stream.close(ignored);
}

}  // namespace

DescriptorStream::DescriptorStream(asio::io_context& io, int input, int output)
    : input_(io, own_descriptor(input, O_RDONLY)),
      output_(io, own_descriptor(output, O_WRONLY)),
      input_flags_(::fcntl(input_.native_handle(), F_GETFL)),
      output_flags_(::fcntl(output_.native_handle(), F_GETFL)) {}

void DescriptorStream::async_read_some(asio::mutable_buffer buffer, TransferHandler handler) {
  input_.async_read_some(buffer, std::move(handler));
}

void DescriptorStream::async_write_some(asio::const_buffer buffer, TransferHandler handler) {
  output_.async_write_some(buffer, std::move(handler));
}

void DescriptorStream::async_wait_hangup(HangupHandler handler) { wait_hangup(output_, std::move(handler)); }

void DescriptorStream::close() {
  close_and_restore(input_, input_flags_);
  close_and_restore(output_, output_flags_);
}

}  // namespace rkllm_mcp
