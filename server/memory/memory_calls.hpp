// Calls of the memory server's methods for a program that waits for them: the command line. They are made by a server
// that runs, or else here, on the file itself. Blocking; one thread.
#pragma once

#include "memory/memory_service.hpp"

#include "client/connection.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace rkllm_mcp::memory {

class MemoryCalls {
 public:
  virtual ~MemoryCalls() = default;
  // The whole result of "memory/…". Throws RpcError as the server answers it (kMethodNotFound if there is no such
  // method), and std::runtime_error if nobody answers.
  virtual Json call(const std::string& method, const Json& params) = 0;
};

// By a server at the other end of this connection, which speaks the direct dialect.
std::unique_ptr<MemoryCalls> calls_over(std::unique_ptr<client::Connection> connection, std::chrono::seconds patience);

// On the store itself, as an admin.
std::unique_ptr<MemoryCalls> calls_on_store(const MemoryOptions& options);

}  // namespace rkllm_mcp::memory
