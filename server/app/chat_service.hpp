// The chat host of this server, with its settings, its HTTP endpoints and its tools.
//
// Threads: event loop only.
#pragma once

#include "chat/host/chat_host.hpp"
#include "chat/http/chat_routes.hpp"
#include "chat/mcp/chat_tools.hpp"
#include "dispatch/gate.hpp"
#include "memory_budget.hpp"
#include "settings/settings.hpp"
#include "transport/http/http_exchange.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class ChatService {
 public:
  // All that is passed outlives it.
  ChatService(asio::io_context& loop, const Settings& settings, Gate& gate, chat::ModelLender& pool,
              chat::ModelStore& store, spdlog::logger& log, std::shared_ptr<MemoryBudget> memory, chat::ChatTools::Options tools);

  // False: the request is not for the chat host.
  bool handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  const std::shared_ptr<const Service>& service() const { return tools_.service(); }
  // See ChatHost.
  void when_first_token(std::function<void(double seconds)> action) { host_.when_first_token(std::move(action)); }
  void stop() {
    routes_.stop();
    tools_.stop();
  }
  Json status() const;

 private:
  chat::ChatHost host_;
  chat::ChatRoutes routes_;
  chat::ChatTools tools_;
};

}  // namespace rkllm_mcp
