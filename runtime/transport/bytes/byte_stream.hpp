// A two-way stream of bytes on the event loop: what a connection needs of a socket, with or without TLS, or of a pair
// of file descriptors.
//
// At most one read, one write and one wait for hang-up are under way at a time. Handlers are called from the loop;
// those of reads and writes always, with an error once the stream is closed. Whoever starts an operation keeps the
// stream and the buffer alive until then.
#pragma once

#include <asio/buffer.hpp>

#include <cstddef>
#include <functional>
#include <system_error>
#include <utility>

#include <poll.h>

namespace rkllm_mcp {

class ByteStream {
 public:
  using TransferHandler = std::function<void(const std::error_code&, std::size_t bytes)>;
  using HangupHandler = std::function<void()>;

  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  virtual void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) = 0;
  // When only a part is written, the next write has to offer at least the rest: TLS may have encrypted it already.
  virtual void async_write_some(asio::const_buffer buffer, TransferHandler handler) = 0;
  // Calls `handler` when nothing that is written can be read any more (a reset, a pipe without reader), as far as the
  // system notices by itself; not called otherwise.
  virtual void async_wait_hangup(HangupHandler handler) = 0;
  // Tells the other side that nothing more follows. True if it may still be sending, and should be read from until it
  // stops: closing a TCP socket with unread input would destroy output that is still on its way.
  virtual bool shutdown_write() = 0;
  virtual void close() = 0;
};

// async_wait_hangup() of streams over the system's own descriptors: waits, without reading or writing, until the system
// itself reports that a socket or a pipe has lost its other side.
//
// Calls `handler` from the loop when `descriptor` (an asio socket or stream descriptor) has been hung up. Out-of-band
// data wakes the wait as well; it ends the wait and is not a hang-up.
template <class Descriptor>
void wait_hangup(Descriptor& descriptor, std::function<void()> handler) {
  descriptor.async_wait(Descriptor::wait_error,
                        [&descriptor, handler = std::move(handler)](const std::error_code& error) {
                          if (error) return;
                          pollfd state{descriptor.native_handle(), 0, 0};
                          if (::poll(&state, 1, 0) == 1 && (state.revents & (POLLERR | POLLHUP)) != 0) handler();
                        });
}

}  // namespace rkllm_mcp
