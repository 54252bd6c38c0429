// A client of an MCP server of either era, over any connection: knows the server, lists what it offers, and makes
// requests. What the server may ask of it is what Introduction::capabilities declares; Events::on_request answers that.
//
// Threads, callbacks and the loss of the connection: as NumberedRequests says. Legacy servers push their notifications;
// modern ones send them in answer to the request `subscriptions/listen`, which is made like any other and ends when it
// is cancelled.
#pragma once

#include "client/connection.hpp"
#include "client/mcp/mcp_handshake.hpp"
#include "client/mcp/message_facts.hpp"
#include "client/mcp/numbered_requests.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::client {

class McpClient {
 public:
  using Id = NumberedRequests::Id;
  using Callbacks = NumberedRequests::Callbacks;
  using Events = NumberedRequests::Events;

  enum class List { kTools, kResources, kResourceTemplates, kPrompts };

  // Introduces itself; the connection is best one of connect_mcp(). Throws ConnectionError, RemoteRefusal.
  McpClient(std::unique_ptr<Connection> connection, Introduction introduction, Events events);
  McpClient(std::unique_ptr<Connection> connection, Introduction introduction)
      : McpClient(std::move(connection), std::move(introduction), Events()) {}

  const ServerFacts& server() const { return server_; }

  // Page by page, until there are `most`; empty if the server has no such capability. `patience` is for all pages.
  // Blocks: not to be called from a callback. Throws ConnectionError, also when the pages go in circles, RemoteRefusal.
  std::vector<Json> list(List list, std::size_t most, std::chrono::milliseconds patience);

  // Sends a request and returns. `params` is an object; what the era and progress need is added to its _meta. A modern
  // result comes whole, with its resultType. Throws ConnectionError once the connection is lost.
  Id request(const std::string& method, Json params, Callbacks callbacks);
  // Cancels it by the rules of era and transport: a notification, or the end of its HTTP response. Of its callbacks
  // only one may still come or run that another thread has begun with before.
  void cancel(Id id, const std::string& reason = {}) { requests_.cancel(id, reason); }
  // Answers a request of the server that Events::on_request took.
  void respond(const Json& id, const Outcome& outcome) { requests_.respond(id, outcome); }
  // Sends a request and waits for its result. Throws ConnectionError, also when there is none in time (it is cancelled
  // then), and RemoteRefusal. Not to be called from a callback.
  Json call(const std::string& method, Json params, std::chrono::milliseconds patience);

 private:
  Json dressed(Json params) const;

  const Introduction introduction_;
  NumberedRequests requests_;
  const ServerFacts server_;
};

}  // namespace rkllm_mcp::client
