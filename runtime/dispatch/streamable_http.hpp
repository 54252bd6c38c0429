// POST, DELETE /mcp: the protocol's Streamable HTTP transport for the handshake revisions, and direct calls. Event loop
// only.
//
// `initialize` opens a session, named by the Mcp-Session-Id header of its answer. Requests without that header are
// served too, from the session that all such clients share: a call needs no handshake here.
#pragma once

#include "dispatch/dispatcher.hpp"
#include "transport/http_exchange.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp {

class StreamableHttp {
 public:
  // A session that was not used for `idle` is forgotten.
  StreamableHttp(Dispatcher& dispatcher, std::chrono::seconds idle) : dispatcher_(dispatcher), idle_(idle) {}

  // An HttpHandler for the path.
  void handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::shared_ptr<Session> session;
    Clock::time_point last_used;
  };

  using Sessions = std::map<std::string, Entry, std::less<>>;

  void post(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  void end_session(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange);
  std::optional<Sessions::value_type> open_session();  // nothing if all sessions are busy
  void forget_idle_sessions();

  Dispatcher& dispatcher_;
  const std::chrono::seconds idle_;
  Sessions sessions_;
};

}  // namespace rkllm_mcp
