// A connected TCP socket with TLS on top, the server's side of it, as a ByteStream.
//
// The handshake is part of the first read and the first write, neither of which completes before it; a client that does
// not finish it in time loses the connection, and so does one that sends something else than TLS. The end of the input
// is the client's close_notify; a connection that ends without one ends with an error, since it may have been cut.
//
// OpenSSL works on the socket itself, and this class waits for the socket: nothing is buffered twice, and close_notify
// leaves exactly when shutdown_write() is called. (asio::ssl::stream keeps four buffers of 17 KiB for each connection,
// and its shutdown waits for the client's.) OpenSSL sends with write(): the process has to ignore SIGPIPE.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/byte_stream.hpp"
#include "transport/bytes/socket_stream.hpp"
#include "transport/bytes/tls_identity.hpp"
#include "transport/limits.hpp"

#include <asio/io_context.hpp>

#include <memory>

namespace rkllm_mcp {

class TlsStream final : public ByteStream {
 public:
  TlsStream(asio::io_context& io, SocketStream::Socket socket, const ConnectionLimits& limits,
            const TlsIdentity& identity);
  ~TlsStream() override;

  void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) override;
  void async_write_some(asio::const_buffer buffer, TransferHandler handler) override;
  void async_wait_hangup(HangupHandler handler) override;
  bool shutdown_write() override;
  void close() override;

 private:
  class Link;  // shared with the socket's handlers: an operation under way keeps it
  std::shared_ptr<Link> link_;
};

// With TLS if there is an identity, else plain.
std::unique_ptr<ByteStream> open_stream(asio::io_context& io, SocketStream::Socket socket,
                                        const ConnectionLimits& limits, const TlsIdentity* identity);

}  // namespace rkllm_mcp
