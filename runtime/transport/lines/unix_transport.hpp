// A Unix domain socket: one message per line, for clients on this machine that the file system lets through.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/accept_loop.hpp"
#include "transport/bytes/channel_set.hpp"
#include "transport/limits.hpp"
#include "transport/peer.hpp"

#include <sys/types.h>
#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace rkllm_mcp {

struct UnixOptions {
  std::string path;
  mode_t mode = 0600;  // of the socket's file: who may connect
  ConnectionLimits limits;
  int handed = -1;  // a socket that listens there already, to be taken over; its file is left as it is. -1 = none
  RefusalFunction refusal{};  // null: clients beyond a limit are cut off without a word
};

class UnixTransport {
 public:
  // Listens from now on. What a server that has gone left behind at the path is replaced; a socket that answers, and a
  // file of another kind, are not. Throws std::runtime_error that names the path and the reason.
  UnixTransport(asio::io_context& io, UnixOptions options, AcceptFunction accept);
  UnixTransport(const UnixTransport&) = delete;
  UnixTransport& operator=(const UnixTransport&) = delete;
  ~UnixTransport() { stop(); }

  const std::string& path() const { return options_.path; }
  std::size_t connection_count() const { return channels_.size(); }
  void stop();                                 // accepts nobody any more, and removes the file
  void close_all() { channels_.close_all(); }  // after what is queued has been written
  void abort_all() { channels_.abort_all(); }  // at once, whatever is queued

 private:
  using Protocol = asio::local::stream_protocol;

  void listen();
  void accepted(Protocol::socket socket);

  asio::io_context& io_;
  const UnixOptions options_;
  const AcceptFunction accept_;
  ChannelSet channels_;
  RefusedConnections refused_connections_;
  std::shared_ptr<AcceptLoop<Protocol>> clients_;
  ino_t file_ = 0;  // what stop() may remove
};

}  // namespace rkllm_mcp
