// Which HTTP path is answered by what. Event loop only.
#pragma once

#include "dispatch/gate.hpp"
#include "dispatch/http_sessions.hpp"
#include "dispatch/paired_http.hpp"
#include "dispatch/plain_http.hpp"
#include "dispatch/streamable_http.hpp"
#include "transport/http_exchange.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <memory>

namespace rkllm_mcp {

class HttpRoutes {
 public:
  using StatusFunction = std::function<Json()>;  // the answer of GET /health
  using TextFunction = std::function<std::string()>;  // the answer of GET /metrics
  struct Server {
    std::string name;
    Json capabilities;
    std::function<bool()> is_simulated;
  };

  HttpRoutes(Dispatcher& dispatcher, std::chrono::seconds session_idle, Server server, StatusFunction health,
             TextFunction metrics)
      : gate_(dispatcher.gate()),
        sessions_(dispatcher, session_idle),
        plain_(dispatcher, sessions_),
        mcp_(dispatcher, sessions_),
        paired_(dispatcher),
        server_(std::move(server)),
        health_(std::move(health)),
        metrics_(std::move(metrics)) {}

  // An HttpHandler. What goes wrong on the way is answered with status 500, and thrown.
  void handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);

 private:
  void route(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  void refuse(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  bool get(const HttpRequest& request, HttpExchange& exchange) const;
  Json with_capabilities(Json description) const;

  Gate& gate_;
  HttpSessions sessions_;
  PlainHttp plain_;
  StreamableHttp mcp_;
  PairedHttp paired_;
  const Server server_;
  const StatusFunction health_;
  const TextFunction metrics_;
};

}  // namespace rkllm_mcp
