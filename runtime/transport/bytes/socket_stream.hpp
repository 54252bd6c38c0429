// A connected TCP or Unix socket as a ByteStream.
#pragma once

#include "transport/bytes/byte_stream.hpp"
#include "transport/limits.hpp"

#include <asio/generic/stream_protocol.hpp>

#include <memory>
#include <string>

namespace rkllm_mcp {

class SocketStream final : public ByteStream {
 public:
  using Socket = asio::generic::stream_protocol::socket;  // a TCP or a Unix socket turns into one

  SocketStream(Socket socket, const ConnectionLimits& limits);

  void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) override;
  void async_write_some(asio::const_buffer buffer, TransferHandler handler) override;
  void async_wait_hangup(HangupHandler handler) override;
  bool shutdown_write() override;
  void close() override;

 private:
  Socket socket_;
};

// Turns Nagle's algorithm off and bounds what the kernel holds back.
void set_socket_options(SocketStream::Socket& socket, const ConnectionLimits& limits);

// "127.0.0.1:8081", "[::1]:8081"
template <class Endpoint>
std::string to_text(const Endpoint& endpoint) {
  const auto address = endpoint.address();
  std::string text;
  if (address.is_v6()) text += '[';
  text += address.to_string();
  if (address.is_v6()) text += ']';
  return text + ":" + std::to_string(endpoint.port());
}

}  // namespace rkllm_mcp
