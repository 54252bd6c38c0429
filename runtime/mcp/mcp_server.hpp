// The Model Context Protocol on any connection: lifecycle, tools, resources. Serves the handshake revisions 2024-11-05
// to 2025-11-25. Event loop only.
#pragma once

#include "call/caller.hpp"
#include "call/session.hpp"
#include "jsonrpc/message.hpp"
#include "jsonrpc/reply.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace rkllm_mcp {

class McpServer {
 public:
  // `page_items`: entries of a list that are sent at once.
  McpServer(asio::io_context& loop, Caller& caller, std::size_t page_items)
      : loop_(loop), caller_(caller), page_items_(page_items) {}

  // Executes the request if its method is one of the protocol's; false if it is not. Throws RpcError.
  bool handle(const Request& request, const std::shared_ptr<Session>& session, const std::shared_ptr<Reply>& reply);
  // Likewise for notifications, which never fail.
  bool handle(const Notification& notification, Session& session);

 private:
  Json initialize(const Json& params, Session& session) const;
  Json list_tools(const Json& params, const Peer& peer) const;
  Json list_resources(const Json& params, const Peer& peer) const;
  Json list_resource_templates(const Json& params, const Peer& peer) const;
  Json read_resource(const Json& params) const;
  void call_tool(const Json& params, const std::shared_ptr<Session>& session, const std::shared_ptr<Reply>& reply);

  asio::io_context& loop_;
  Caller& caller_;
  const std::size_t page_items_;
};

}  // namespace rkllm_mcp
