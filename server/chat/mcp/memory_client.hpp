// The memory server as this process's own client of it: the two calls that keep a conversation and read it again.
//
// Event loop only. After its end nobody is called any more.
#pragma once

#include "auth/access_tokens.hpp"
#include "lifetime.hpp"
#include "mcp/service.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <exception>
#include <functional>
#include <string>

namespace rkllm_mcp::chat {

class MemoryClient {
 public:
  using AddedFunction = std::function<void(std::exception_ptr error)>;

  // `memory`: the memory server, which outlives this; null: there is none, and nothing may be called but has_server().
  MemoryClient(asio::io_context& loop, const mcp::Service* memory);
  MemoryClient(const MemoryClient&) = delete;
  MemoryClient& operator=(const MemoryClient&) = delete;

  bool has_server() const { return memory_ != nullptr; }
  // `done` gets what memory/get_all_messages answers, to be read_whole() beside the loop; never from inside.
  void all_messages(const std::string& id, const Principal& who, mcp::DoneFunction done);
  // `done` may be called from inside. `metadata` is kept with the message; null: none.
  void add_message(const std::string& id, const Principal& who, const char* role, std::string text,
                   const Json& metadata, AddedFunction done);

 private:
  const mcp::ServiceMethod& method(const char* name) const;

  asio::io_context& loop_;
  const mcp::Service* const memory_;
  const Lifetime alive_;
};

}  // namespace rkllm_mcp::chat
