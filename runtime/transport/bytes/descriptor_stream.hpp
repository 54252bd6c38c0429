// A pair of file descriptors, one to read and one to write, as a ByteStream: standard input and output of whatever
// kind.
//
// Pipes, sockets and terminals are waited for without blocking. Whether a descriptor blocks belongs to the open file,
// which a shell or a parent process may share: a terminal or a pipe is therefore opened once more for this process
// alone; where that cannot be done (sockets, a foreign terminal) the mode is restored when the stream closes. Regular
// files and /dev/null always answer at once and need no waiting.
#pragma once

#include "transport/bytes/byte_stream.hpp"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>

namespace rkllm_mcp {

class DescriptorStream final : public ByteStream {
 public:
  // Works on duplicates; closing the two descriptors stays the caller's business. Throws std::system_error.
  DescriptorStream(asio::io_context& io, int input, int output);
  ~DescriptorStream() override { close(); }

  void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) override;
  void async_write_some(asio::const_buffer buffer, TransferHandler handler) override;
  void async_wait_hangup(HangupHandler handler) override;
  bool shutdown_write() override { return false; }
  void close() override;

 private:
  asio::posix::stream_descriptor input_;
  asio::posix::stream_descriptor output_;
  int input_flags_;  // to be restored
  int output_flags_;
};

}  // namespace rkllm_mcp
