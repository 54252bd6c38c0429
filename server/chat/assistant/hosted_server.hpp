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

class HostedServer {
 public:
  virtual ~HostedServer() = default;

  virtual const std::string& name() const = 0;  // "memory-server"
  // Begins one call, in the name of `who`. `done` comes once, and never from inside. What is returned gives the call up
  // when it is destroyed: then nothing comes.
  virtual std::shared_ptr<void> call(const std::string& method, const Json& params, const Principal& who,
                                     DoneFunction done) = 0;
};

}  // namespace rkllm_mcp::chat
