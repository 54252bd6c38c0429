// GET /sse and POST /messages: the HTTP transport of revision 2024-11-05, which clients still fall back to. The event
// stream is the connection: its first event names the address for the client's messages, and every message of the
// server comes on it. Event loop only.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "lifetime.hpp"
#include "transport/http/http_exchange.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace rkllm_mcp {

class PairedHttp {
 public:
  static constexpr std::size_t kMost = 256;  // open streams

  explicit PairedHttp(Dispatcher& dispatcher) : dispatcher_(dispatcher), accept_(dispatcher.acceptor()) {}

  // HttpHandlers.
  void open(const HttpRequest& request, HttpExchange& exchange);
  void take(const HttpRequest& request, HttpExchange& exchange);

 private:
  class Client;

  Dispatcher& dispatcher_;
  const AcceptFunction accept_;
  std::map<std::string, std::shared_ptr<Client>, std::less<>> clients_;
  const Lifetime alive_;  // clients may end after this
};

}  // namespace rkllm_mcp
