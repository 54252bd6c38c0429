// A server as the assistant's host sees it, wherever it is: somebody who answers JSON-RPC.
//
// Threads: event loop only.
#pragma once

#include "auth/access_tokens.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/json.hpp>

#include <memory>
#include <string>

namespace rkllm_mcp::chat {

// A call under way. Destroying it gives the call up: then nothing comes of it.
class HostCall {
 public:
  virtual ~HostCall() = default;
};

class HostedServer {
 public:
  virtual ~HostedServer() = default;

  virtual const std::string& name() const = 0;  // "memory-server"
  // Begins one call, in the name of `who`. `done` comes once, never from inside, and may destroy the call.
  virtual std::unique_ptr<HostCall> call(const std::string& method, const Json& params, const Principal& who,
                                         DoneFunction done) = 0;
};

}  // namespace rkllm_mcp::chat
