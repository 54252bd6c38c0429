// A server of the assistant's host that is another program's: it is asked by HTTP, one POST of JSON-RPC to /jsonrpc for
// each call, with NAME/METHOD as the method. Another instance of this program answers so, and so does any memory or
// tool server with that interface.
//
// Threads: event loop only; each request is made on a thread beside it, of which all such servers share some.
#pragma once

#include "chat/assistant/providers/remote_provider.hpp"
#include "chat/assistant/servers/hosted_server.hpp"
#include "clock.hpp"
#include "run_loop.hpp"
#include "text/url.hpp"
#include "threads/fair_threads.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class RemoteServers {
 public:
  using Options = RemoteProvider::Options;  // which also asks other servers by HTTP

  RemoteServers(asio::io_context& loop, Options options);
  RemoteServers(const RemoteServers&) = delete;
  RemoteServers& operator=(const RemoteServers&) = delete;
  ~RemoteServers();

  // The server of that name at an address ("http://localhost:8001"). This outlives it. Throws std::invalid_argument
  // that says what is wrong with the address.
  std::unique_ptr<HostedServer> server(std::string name, std::string_view address);
  // After the last call was given up: waits for what still goes on; false if that takes too long. Any thread.
  bool end(Clock::time_point deadline) { return threads_.end(deadline); }

 private:
  class Server;
  class RemoteCall;

  const Options options_;
  const WayToLoop way_to_loop_;  // of the threads, which may outlive this
  FairThreads threads_;
};

}  // namespace rkllm_mcp::chat
