// GET /sse and POST /messages: the HTTP transport of revision 2024-11-05, which clients still fall back to. The event
// stream is the connection: its first event names the address for the client's messages, and every message of the
// server comes on it. Event loop only.
#pragma once

#include "lifetime.hpp"
#include "memory_budget.hpp"
#include "transport/http/http_exchange.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp {

class PairedHttp {
 public:
  static constexpr std::size_t kMost = 256;             // open streams
  static constexpr std::size_t kMostOfOne = kMost / 4;  // of one owner, see owner_of()

  // `accept` is told of each client; `memory` is what messages that wait their turn count in.
  PairedHttp(asio::io_context& loop, MemoryBudget memory, AcceptFunction accept)
      : loop_(loop), memory_(std::move(memory)), accept_(std::move(accept)) {}

  // Both are http::Handlers.
  void open(const http::Request& request, http::Exchange& exchange);
  void take(const http::Request& request, http::Exchange& exchange);

 private:
  class Client;

  asio::io_context& loop_;
  const MemoryBudget memory_;
  const AcceptFunction accept_;
  std::map<std::string, std::shared_ptr<Client>, std::less<>> clients_;
  const Lifetime alive_;  // clients may end after this
};

}  // namespace rkllm_mcp
