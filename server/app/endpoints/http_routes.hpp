// Which handler answers which HTTP path, on one port. Event loop only.
#pragma once

#include "dispatch/gate.hpp"
#include "dispatch/http_sessions.hpp"
#include "dispatch/paired_http.hpp"
#include "dispatch/plain_http.hpp"
#include "dispatch/streamable_http.hpp"
#include "log_tail.hpp"
#include "transport/http/http_exchange.hpp"

#include <rkllm_mcp/json.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

struct Principal;

class HttpRoutes {
 public:
  using StatusFunction = std::function<Json()>;       // the answer of GET /health
  using TextFunction = std::function<std::string()>;  // the answer of GET /metrics
  struct Server {
    std::string name;
    Json capabilities;
    std::function<bool()> is_simulated;
  };

  // `server` is listed before the services of the dispatcher's catalogue; nothing: only these services are listed.
  HttpRoutes(Dispatcher& dispatcher, std::chrono::seconds session_idle, std::optional<Server> server,
             StatusFunction health, TextFunction metrics)
      : dispatcher_(dispatcher),
        gate_(dispatcher.gate()),
        sessions_(dispatcher, session_idle),
        plain_(dispatcher, sessions_),
        mcp_(dispatcher, sessions_),
        paired_(dispatcher.loop(), dispatcher.options().memory, dispatcher.acceptor()),
        server_(std::move(server)),
        health_(std::move(health)),
        metrics_(std::move(metrics)) {}

  // Is called before everything else; returns true if it has taken the request. Null: it is not called.
  using FirstFunction = std::function<bool(const http::Request&, http::Exchange&)>;
  void ask_first(FirstFunction first) { first_ = std::move(first); }

  // From now on GET /log shows the lines of `tail`, to those with the permission admin. `tail` outlives this.
  void show_log(const LogTail& tail) { log_ = &tail; }

  // An http::Handler. What goes wrong on the way is answered with status 500, and thrown.
  void handle(const http::Request& request, http::Exchange& exchange);

 private:
  void refuse(const http::Request& request, http::Exchange& exchange);
  bool get(const http::Request& request, http::Exchange& exchange);
  void list_servers(const Principal& asking, http::Exchange& exchange);
  void describe_server(std::string_view name, const Principal& asking, http::Exchange& exchange);
  http::Response log_lines(const http::Request& request, const Principal& asking) const;
  Json own_capabilities(Json description) const;
  std::vector<std::string> names() const;

  Dispatcher& dispatcher_;
  Gate& gate_;
  HttpSessions sessions_;
  PlainHttp plain_;
  StreamableHttp mcp_;
  PairedHttp paired_;
  const std::optional<Server> server_;
  const StatusFunction health_;
  const TextFunction metrics_;
  FirstFunction first_;
  const LogTail* log_ = nullptr;  // null: there is no GET /log
};

}  // namespace rkllm_mcp
