// How an invocation speaks to the client whose request it executes: messages on the way of the answer, then the answer.
// Event loop only.
#pragma once

#include "mcp/protocol/era.hpp"
#include "mcp/tools/invocation.hpp"

#include <rkllm_mcp/json.hpp>

#include <memory>
#include <string_view>

namespace rkllm_mcp::mcp {

class RequestResponder final : public Requester {
 public:
  // `server` is {"name","version"} and outlives this.
  RequestResponder(Reply& reply, const Revision& revision, const Json& server)
      : reply_(reply.shared_from_this()), revision_(revision), server_(server) {}

  void result(Json body) override;
  void error(const RpcError& error) override { reply_->error(error); }
  void ask(Invocation& invocation, InputRequests requests, Json state) override {
    revision_.era.ask(invocation, std::move(requests), std::move(state));
  }
  void notify(std::string_view method, const Json& params) override;
  bool ready() const override { return reply_->peer().ready(); }

 private:
  const std::shared_ptr<Reply> reply_;
  const Revision& revision_;
  const Json& server_;
};

// Content that clients of the revision do not know, as text: "audio" and "resource_link" blocks.
Json content_for(const Revision& revision, Json body);

}  // namespace rkllm_mcp::mcp
