// A service of this process as a server of the assistant's host: it is asked as any client of the direct dialect asks,
// but for the way there and back. Event loop only; long answers are parsed on a thread beside it.
#pragma once

#include "chat/assistant/servers/hosted_server.hpp"
#include "dispatch/service_calls.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"
#include "mcp/catalogue.hpp"
#include "side_thread.hpp"

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class ServiceServer final : public HostedServer {
 public:
  ServiceServer(asio::io_context& loop, const Immutable<mcp::Service>& service);

  const std::string& name() const override { return catalogue_.name; }
  // From now on it has what `service` has, which is of the same name; calls under way go on.
  void renew(const Immutable<mcp::Service>& service);
  std::unique_ptr<HostCall> call(const std::string& method, const Json& params, const Principal& who,
                                 mcp::DoneFunction done) override;

 private:
  class Caller;
  void take(std::string text, mcp::DoneFunction end);

  asio::io_context& loop_;
  mcp::Catalogue catalogue_;  // of this service alone
  const ServiceCalls calls_;
  const Lifetime alive_;  // gone: nobody is called any more
  SideThread reading_;
};

// The result of an answer in JSON-RPC; throws the error that it is, an RpcError. Any thread.
Json result_of_answer(std::string_view text);

}  // namespace rkllm_mcp::chat
