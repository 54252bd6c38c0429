// A server as the assistant's host sees it, wherever it is: somebody who answers JSON-RPC.
//
// Threads: event loop only.
#pragma once

#include "auth/access_tokens.hpp"
#include "lifetime.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/json.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp::chat {

// A call under way. Destroying it gives the call up: then nothing comes of it, and no thread waits for its answer.
class HostCall {
 public:
  explicit HostCall(mcp::DoneFunction done) : done_(std::move(done)) {}
  HostCall(const HostCall&) = delete;
  HostCall& operator=(const HostCall&) = delete;
  virtual ~HostCall() = default;

  // Returns what calls `done`, once, if this call still exists. It may outlive the call; any thread may hold it.
  mcp::DoneFunction end() {
    return [this, alive = alive_.watch()](Json result, const std::exception_ptr& error) {
      if (alive.expired()) return;
      if (const auto done = std::exchange(done_, nullptr)) done(std::move(result), error);  // may destroy this
    };
  }

 private:
  mcp::DoneFunction done_;
  const Lifetime alive_;
};

class HostedServer {
 public:
  virtual ~HostedServer() = default;

  virtual const std::string& name() const = 0;  // "memory-server"
  // Begins one call, in the name of `who`. `done` comes once, on the event loop, never from inside, and may destroy the
  // call. Whatever goes wrong comes there, too, as an RpcError, and as the server says it if it does.
  virtual std::unique_ptr<HostCall> call(const std::string& method, const Json& params, const Principal& who,
                                         mcp::DoneFunction done) = 0;
};

}  // namespace rkllm_mcp::chat
