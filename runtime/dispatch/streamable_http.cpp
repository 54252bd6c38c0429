#include "dispatch/streamable_http.hpp"

#include "call/stream_registry.hpp"
#include "dispatch/http_peer.hpp"
#include "dispatch/plain_http.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol.hpp"

#include <cstddef>
#include <variant>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
// When so many sessions exist, a new one takes the place of the one that has rested longest.
constexpr std::size_t kMaxSessions = 1024;
constexpr std::string_view kRevisionHeader = "MCP-Protocol-Version";

HttpResponse refusal(int status, const std::string& complaint) {
  const RpcError error(ErrorCode::kInvalidRequest, "invalid request: " + complaint);
  return {status, {}, "application/json", error_message(RequestId(kNullId), error)};
}

// The media type of the body, without parameters such as charset.
std::string_view media_type(const HttpHeaders& headers) {
  const std::string_view value = headers.find("Content-Type").value_or("");
  const std::string_view type = value.substr(0, value.find(';'));
  return type.substr(0, type.find_last_not_of(" \t") + 1);
}

RpcError too_many_sessions() {
  return {ErrorCode::kQueueFull, "too many MCP sessions are busy",
          Json{{"queued", kMaxSessions}, {"limit", kMaxSessions}}};
}

bool accepts_events(const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) {
    if (equal_ignoring_case(name, "Accept") && value.find("text/event-stream") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void StreamableHttp::handle(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
  if (request.method == "POST") return post(request, exchange);
  if (request.method == "DELETE") return end_session(request, exchange);
  HttpResponse response = refusal(405, "POST messages to this path, DELETE the session");
  response.headers.add("Allow", "POST, DELETE");
  exchange->respond(response);
}

void StreamableHttp::post(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
  if (!equal_ignoring_case(media_type(request.headers), "application/json")) {
    return exchange->respond(refusal(415, "Content-Type must be application/json"));
  }
  const auto revision = request.headers.find(kRevisionHeader);
  if (revision && !is_handshake_revision(*revision)) {
    return exchange->respond(refusal(400, std::string(kRevisionHeader) + " names a revision that is not served"));
  }
  auto session = dispatcher_.anonymous_session();
  if (const auto id = request.headers.find(kSessionHeader)) {
    const auto found = sessions_.find(*id);
    if (found == sessions_.end()) return exchange->respond(refusal(404, "no such session; initialize again"));
    found->second.last_used = Clock::now();
    session = found->second.session;
  }
  const auto peer = HttpPeer::make(
      exchange, {.may_stream = accepts_events(request.headers), .headers = {}, .remote = request.remote});
  const Message message = parse_message(request.body, dispatcher_.options().message);
  const auto* asked = std::get_if<Request>(&message);
  if (asked != nullptr && asked->method == "initialize") {
    const auto opened = open_session();
    if (!opened) return peer->answer_with_status(503, error_message(asked->id, too_many_sessions()));
    session = opened->second.session;
    peer->add_header(kSessionHeader, opened->first);
  }
  receive_over_http(dispatcher_, message, session, peer, peer->may_stream() ? Delivery::kPush : Delivery::kPoll);
}

void StreamableHttp::end_session(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
  const auto id = request.headers.find(kSessionHeader);
  if (!id) return exchange->respond(refusal(400, std::string(kSessionHeader) + " is missing"));
  const auto found = sessions_.find(*id);
  if (found == sessions_.end()) return exchange->respond(refusal(404, "no such session"));
  found->second.session->cancel_all();
  sessions_.erase(found);
  exchange->respond({204, {}, {}, {}});
}

std::optional<StreamableHttp::Sessions::value_type> StreamableHttp::open_session() {
  forget_idle_sessions();
  if (sessions_.size() >= kMaxSessions) return std::nullopt;
  return *sessions_.emplace(new_stream_id(), Entry{dispatcher_.make_session(), Clock::now()}).first;
}

void StreamableHttp::forget_idle_sessions() {
  const auto oldest = Clock::now() - idle_;
  auto longest_rested = sessions_.end();
  for (auto entry = sessions_.begin(); entry != sessions_.end();) {
    const bool rests = entry->second.session->active() == 0;
    if (rests && entry->second.last_used < oldest) {
      entry = sessions_.erase(entry);
      continue;
    }
    const bool longer = longest_rested == sessions_.end() || entry->second.last_used < longest_rested->second.last_used;
    if (rests && longer) longest_rested = entry;
    ++entry;
  }
  if (sessions_.size() >= kMaxSessions && longest_rested != sessions_.end()) sessions_.erase(longest_rested);
}

}  // namespace rkllm_mcp
