// The chat host of this server, with its settings, its HTTP endpoints and its tools.
//
// Threads: event loop only.
#pragma once

#include "chat/assistant/assistants.hpp"
#include "chat/assistant/profile/profile_prompts.hpp"
#include "chat/assistant/providers/model_provider.hpp"
#include "chat/assistant/providers/remote_provider.hpp"
#include "chat/assistant/servers/remote_server.hpp"
#include "chat/assistant/servers/service_server.hpp"
#include "chat/host/chat_host.hpp"
#include "chat/http/chat_routes.hpp"
#include "chat/mcp/chat_tools.hpp"
#include "chat/mcp/kept_responses.hpp"
#include "clock.hpp"
#include "dispatch/gate.hpp"
#include "immutable.hpp"
#include "lifetime.hpp"
#include "mcp/catalogue.hpp"
#include "memory_budget.hpp"
#include "settings/settings.hpp"
#include "transport/http/http_exchange.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class ChatService {
 public:
  // All that is passed outlives it; `servers` are those of this process that assistants use. If the environment has
  // MCP_SERVER_URL, assistants use the memory and the tool server at that address instead of `servers`; throws
  // std::runtime_error if it is no address.
  ChatService(asio::io_context& loop, const Settings& settings, Gate& gate, chat::ModelLender& lender,
              chat::ModelStore& store, spdlog::logger& log, MemoryBudget memory, chat::ChatTools::Options tools,
              const std::vector<Immutable<mcp::Service>>& servers);

  // What answers the requests over HTTP that are for the chat host, see ChatRoutes::serves().
  chat::ChatRoutes& routes() { return routes_; }
  // Its tools, and the prompts of the profiles that there are.
  const Immutable<mcp::Service>& service() const { return service_; }
  // Reads the profiles of chat.profiles_dir as they are now; blocks. The log says which of them cannot be used. False:
  // there are none, and were none. service() is another one afterwards.
  bool read_profiles();
  // `tools`: those of other servers. Profiles that name the server "upstreams" may offer them to their models.
  void use_upstreams(std::vector<Immutable<mcp::Tool>> tools);
  // See ChatHost.
  void when_first_token(chat::ChatHost::FirstTokenFunction action) { host_.when_first_token(std::move(action)); }
  void forget_caches() { host_.forget_caches(); }
  void stop() {
    routes_.stop();
    tools_.stop();
    assistants_.stop();
  }
  // After stop(): whether answers that were begun are still being stored in their conversations.
  bool is_keeping() const { return tools_.is_answering() || assistants_.turns() > 0; }
  // After stop(): waits until no other server is asked any more; false if that takes too long. Any thread.
  bool end(Clock::time_point deadline) {
    const bool have_texts_ended = others_.end(deadline);
    return remote_servers_.end(deadline) && have_texts_ended;
  }
  Json status() const;

 private:
  void use_servers_elsewhere();
  // Logs a warning if there is no model of the name that chat.guardrail_model gives.
  void look_for_guardrail_model();

  const Settings& settings_;
  spdlog::logger& log_;
  chat::ChatHost host_;
  chat::ModelProvider models_;
  chat::RemoteProvider others_;
  chat::RemoteServers remote_servers_;
  chat::Assistants assistants_;
  chat::ServiceServer* upstreams_ = nullptr;              // with assistants_
  const std::unique_ptr<chat::KeptResponses> responses_;  // null: none are kept
  chat::ChatRoutes routes_;
  chat::ChatTools tools_;
  Immutable<mcp::Service> service_;
  const Lifetime alive_;  // gone: what was posted does nothing
};

}  // namespace rkllm_mcp
