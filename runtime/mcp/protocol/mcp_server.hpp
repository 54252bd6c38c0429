// The Model Context Protocol as a server, on any connection and in all revisions: serves a catalogue of tools,
// resources and prompts. Event loop only.
#pragma once

#include "call/session.hpp"
#include "jsonrpc/message.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/lists/lists.hpp"
#include "mcp/lists/subscriptions.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/state_seal.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tasks.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::mcp {

class Server {
 public:
  struct Options {
    std::size_t page_items{};            // entries of a list that are sent at once
    std::size_t requests_per_session{};  // in progress at a time
    Counts* counts = nullptr;
    MemoryBudget memory{};                                    // that what is kept of tasks counts in
    std::size_t max_id_bytes = static_cast<std::size_t>(-1);  // of a progress token's JSON text, as of a request's id
  };

  // The catalogue outlives the server.
  Server(asio::io_context& loop, const Catalogue& catalogue, const Options& options);

  // Executes the request. False if its revision has no such method, so that it may be a direct call; but a request that
  // claims a stateless revision then gets the error kMethodNotFound. Throws RpcError.
  bool handle(const Request& request, Session& session, Reply& reply);
  // Acts on the notification, if it is one of MCP's that asks for something. Throws std::bad_alloc only.
  void handle(const Notification& notification, Session& session, const Peer& client);
  // Hands the client's answer to the tool that has asked for it. One that nobody has asked for is passed over.
  static void handle(const Response& response, Session& session);

  // Who sends the request, and in which revision. Throws RpcError if the request claims a revision that is not served,
  // or leaves out what its revision demands.
  ClientContext client_of(const Request& request, const Session& session) const;
  const Catalogue& catalogue() const { return catalogue_; }

  // Tell clients of a change: of a list, all with a handshake and those that listen; of a resource, those that watch.
  void announce(Listed list) { subscriptions_.list_changed(list); }
  void resource_updated(const std::string& uri, const Subscriptions::MayHear& may_hear = {}) {
    subscriptions_.resource_updated(uri, may_hear);
  }
  bool is_watched(std::string_view beginning) const { return subscriptions_.is_watched(beginning); }
  // A log message that belongs to no request in particular, for those who may hear of everybody's.
  void log(Severity level, std::string_view logger, const Json& data);

  Json capabilities(const Era& era) const;
  // Ends what is open: subscriptions get their answers, tasks are cancelled.
  void end();

 private:
  struct Asked {
    const Request& request;
    const ClientContext& client;
    Session& session;
    Reply& reply;
  };
  struct Handler {
    std::string_view method;
    void (Server::*run)(const Asked& asked);
  };
  static const Handler* handler_of(std::string_view method);

  void initialize(const Asked& asked);
  void ping(const Asked& asked);
  void discover(const Asked& asked);
  void tools(const Asked& asked);
  void call_tool(const Asked& asked);
  void resources(const Asked& asked);
  void resource_templates(const Asked& asked);
  void read(const Asked& asked);
  void subscribe(const Asked& asked);
  void unsubscribe(const Asked& asked);
  void listen(const Asked& asked);
  void prompts(const Asked& asked);
  void get_prompt(const Asked& asked);
  void complete_argument(const Asked& asked);
  void set_log_level(const Asked& asked);
  void get_task(const Asked& asked);
  void update_task(const Asked& asked);
  void cancel_task(const Asked& asked);

  void answer(const Asked& asked, Json body, const std::optional<Freshness>& freshness = std::nullopt) const;
  // Answers when `begin`'s function is called. Counts as a request in progress.
  void answer_later(const Asked& asked, const std::function<void(DoneFunction)>& begin);
  InvocationRequest request_for(const Asked& asked, std::string name) const;
  std::shared_ptr<Invocation> new_invocation(InvocationRequest wanted, const InvokeFunction& run);
  PageLimits page_limits(const Asked& asked) const;

  const Catalogue& catalogue_;
  const Options options_;
  const Json server_;  // {"name","version"}
  StateSeal seal_;
  Subscriptions subscriptions_;
  Tasks tasks_;
  std::list<std::weak_ptr<Invocation>> hearers_;  // those whose requests ask for log messages
};

}  // namespace rkllm_mcp::mcp
