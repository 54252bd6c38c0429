#include "dispatch/streamable_http.hpp"

#include "dispatch/http_peer.hpp"
#include "dispatch/plain_http.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol.hpp"

#include <variant>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kRevisionHeader = "MCP-Protocol-Version";

// The media type of the body, without parameters such as charset.
std::string_view media_type(const HttpHeaders& headers) {
  const std::string_view value = headers.find("Content-Type").value_or("");
  const std::string_view type = value.substr(0, value.find(';'));
  return type.substr(0, type.find_last_not_of(" \t") + 1);
}

RpcError too_many_sessions() {
  return {ErrorCode::kQueueFull, "too many MCP sessions are busy",
          Json{{"queued", HttpSessions::kMost}, {"limit", HttpSessions::kMost}}};
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
  auto session = sessions_.of(request);
  if (!session) return exchange->respond(no_such_session());
  const auto peer = HttpPeer::make(
      exchange, {.may_stream = accepts_events(request.headers), .headers = {}, .remote = request.remote});
  const Message message = parse_message(request.body, dispatcher_.options().message);
  const auto* asked = std::get_if<Request>(&message);
  if (asked != nullptr && asked->method == "initialize") {
    const auto opened = sessions_.open(request);
    if (!opened) return peer->answer_with_status(503, error_message(asked->id, too_many_sessions()));
    session = opened->session;
    peer->add_header(kSessionHeader, opened->id);
  }
  receive_over_http(dispatcher_, message, session, peer, peer->may_stream() ? Delivery::kPush : Delivery::kPoll);
}

void StreamableHttp::end_session(const HttpRequest& request, const std::shared_ptr<HttpExchange>& exchange) {
  const auto id = request.headers.find(kSessionHeader);
  if (!id) return exchange->respond(refusal(400, std::string(kSessionHeader) + " is missing"));
  if (!sessions_.of(request) || !sessions_.end(*id)) return exchange->respond(no_such_session());
  exchange->respond({204, {}, {}, {}});
}

}  // namespace rkllm_mcp
