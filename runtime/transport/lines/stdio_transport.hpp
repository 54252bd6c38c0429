// stdio: one message per line, one client, which usually started this process.
//
// Nothing but messages may ever reach the output: the caller moves file descriptor 1 away before it loads anybody's
// library, and gives the moved descriptor here. The caller also ignores SIGPIPE.
//
// Threads: belongs to the event loop.
#pragma once

#include "transport/bytes/channel_set.hpp"
#include "transport/limits.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <cstddef>

namespace rkllm_mcp {

struct StdioOptions {
  int input = 0;  // file descriptors, which stay the caller's
  int output = 1;
  ConnectionLimits limits;
};

class StdioTransport {
 public:
  // Accepts its one peer and reads from now on. At the end of the input the peer receives EndOfInput. Throws
  // std::system_error if a descriptor is not open.
  StdioTransport(asio::io_context& io, const StdioOptions& options, const AcceptFunction& accept);

  std::size_t connection_count() const { return channels_.size(); }
  void close_all() { channels_.close_all(); }  // after what is queued has been written
  void abort_all() { channels_.abort_all(); }  // at once, whatever is queued

 private:
  ChannelSet channels_;
};

}  // namespace rkllm_mcp
