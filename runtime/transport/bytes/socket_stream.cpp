#include "transport/bytes/socket_stream.hpp"

#include <asio/ip/tcp.hpp>

#include <utility>

namespace rkllm_mcp {

void set_socket_options(SocketStream::Socket& socket, const ConnectionLimits& limits) {
  std::error_code ignored;  // a Unix socket has no such option; and if the client has gone, the first read tells
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  if (limits.kernel_send_bytes > 0) {
    socket.set_option(asio::socket_base::send_buffer_size(limits.kernel_send_bytes), ignored);
  }
}

SocketStream::SocketStream(Socket socket, const ConnectionLimits& limits) : socket_(std::move(socket)) {
  set_socket_options(socket_, limits);
}

void SocketStream::async_read_some(asio::mutable_buffer buffer, TransferHandler handler) {
  socket_.async_read_some(buffer, std::move(handler));
}

void SocketStream::async_write_some(asio::const_buffer buffer, TransferHandler handler) {
  socket_.async_write_some(buffer, std::move(handler));
}

void SocketStream::async_wait_hangup(HangupHandler handler) { wait_hangup(socket_, std::move(handler)); }

bool SocketStream::shutdown_write() {
  std::error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  return !error;
}

void SocketStream::close() {
  std::error_code ignored;
  socket_.close(ignored);
}

}  // namespace rkllm_mcp
