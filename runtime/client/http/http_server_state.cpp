#include "client/http/http_server_state.hpp"

#include "client/http/param_headers.hpp"
#include "client/mcp/message_facts.hpp"
#include "client/sockets/socket.hpp"
#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "mcp/protocol/agreed_names.hpp"

#include <utility>

namespace rkllm_mcp::client {
HttpServerState::HttpServerState(Endpoint endpoint, std::chrono::milliseconds connect_patience)
    : endpoint_(std::move(endpoint)), url_(endpoint_.url()), connect_patience_(connect_patience) {}

std::unique_ptr<HttpRoundTrip> HttpServerState::connection(std::chrono::milliseconds read_patience) const {
  return std::make_unique<HttpRoundTrip>(endpoint_, HttpPatience{.connect = connect_patience_, .read = read_patience});
}

std::unique_ptr<HttpRoundTrip> HttpServerState::brief_connection(std::chrono::milliseconds patience) const {
  return std::make_unique<HttpRoundTrip>(endpoint_, HttpPatience{.connect = patience, .read = patience});
}

void HttpServerState::reach() const {
  const Socket socket(Socket::Kind::kStream, endpoint_, Clock::now() + connect_patience_);
}

bool HttpServerState::is_reachable() const {
  try {
    reach();
    return true;
  } catch (const ConnectionError&) {
    return false;
  }
}

std::multimap<std::string, std::string> HttpServerState::session_headers() const {
  const std::lock_guard lock(mutex_);
  std::multimap<std::string, std::string> headers;
  if (!id_.empty()) headers.emplace(mcp::kSessionHeader, id_);
  if (!revision_.empty()) headers.emplace(mcp::kRevisionHeader, revision_);
  return headers;
}

HttpRequest HttpServerState::post(const MessageFacts& facts, std::string message) const {
  HttpRequest request{"POST", path(), {}, std::move(message)};
  auto& headers = request.headers;
  if (facts.is_modern()) {
    if (facts.method == "tools/call" && param_headers_.knows(facts.name)) {
      headers = param_headers_.headers_of(request.body);
    }
    headers.emplace(mcp::kRevisionHeader, header_value(facts.revision));
    headers.emplace(mcp::kMethodHeader, header_value(facts.method));
    if (!facts.name.empty()) headers.emplace(mcp::kNameHeader, header_value(facts.name));
  } else if (facts.method != "initialize") {
    headers = session_headers();
  }
  headers.emplace("Accept", "application/json, text/event-stream");
  return request;
}

HttpRequest HttpServerState::get(const std::string& last_event_id) const {
  HttpRequest request{"GET", path(), session_headers()};
  request.headers.emplace("Accept", "text/event-stream");
  if (!last_event_id.empty()) request.headers.emplace("Last-Event-ID", last_event_id);
  return request;
}

HttpRequest HttpServerState::end_of_session() const { return {"DELETE", path(), session_headers()}; }

void HttpServerState::take_id(const std::string& id) {
  const std::lock_guard lock(mutex_);
  id_ = id;
}

void HttpServerState::take_revision(const std::string& answer) {
  const auto message = parse_bounded(answer);
  const Json::json_pointer where("/result/protocolVersion");
  if (!message || !message->is_object() || !message->contains(where) || !message->at(where).is_string()) return;
  auto revision = message->at(where).get<std::string>();
  if (!is_legacy_revision(revision)) return;
  const std::lock_guard lock(mutex_);
  revision_ = std::move(revision);
}

bool HttpServerState::has_id() const {
  const std::lock_guard lock(mutex_);
  return !id_.empty();
}

}  // namespace rkllm_mcp::client
