#include "dispatch/streamable_http.hpp"

#include "dispatch/http_peer.hpp"
#include "dispatch/plain_http.hpp"
#include "dispatch/server_sent_events.hpp"
#include "dispatch/stateless_headers.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/revisions.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

// The media type of the body, without parameters such as charset.
std::string_view media_type(const http::Headers& headers) {
  const std::string_view value = headers.find("Content-Type").value_or("");
  return http::trim_blanks(value.substr(0, value.find(';')));
}

RpcError too_many_sessions() {
  return {ErrorCode::kQueueFull, "too many MCP sessions are busy",
          Json{{"queued", HttpSessions::kMost}, {"limit", HttpSessions::kMost}}};
}

// The revision that the header names; null if there is no header, or one that names none that is served.
const mcp::Revision* revision_in(const http::Headers& headers) {
  const auto header = headers.find(mcp::kRevisionHeader);
  return header ? mcp::find_revision(http::trim_blanks(*header)) : nullptr;
}

HttpPeer::Options peer_options(const http::Request& request) {
  return {.may_stream = accepts_events(request.headers), .remote = request.remote};
}

bool is_stateless(const mcp::Revision* revision) { return revision != nullptr && !revision->era.has_handshake(); }

}  // namespace

void StreamableHttp::handle(const http::Request& request, http::Exchange& exchange) {
  if (request.method == "GET") return get(request, exchange);
  if (request.method == "DELETE") return end_session(request, exchange);
  if (request.method != "POST") {
    http::Response response = refusal(405, "POST messages to this path, GET the events of a session, DELETE a session");
    response.headers.add("Allow", "POST, GET, DELETE");
    return exchange.respond(response);
  }
  if (!http::equal_ignoring_case(media_type(request.headers), "application/json")) {
    return exchange.respond(refusal(415, "Content-Type must be application/json"));
  }
  read_body(dispatcher_, request, exchange,
            [this, kept = exchange.shared_from_this()](const http::Request& head, const Message& message) {
              const auto way = way_of(head, message, *kept);
              if (!way) return;
              cancel_when_gone(*way->peer, *way->session);
              dispatcher_.receive(message, *way->session, way->peer->answer(), way->delivery);
            });
}

std::optional<StreamableHttp::Way> StreamableHttp::way_of(const http::Request& request, const Message& message,
                                                          http::Exchange& exchange) {
  const mcp::Revision* const revision = revision_in(request.headers);
  HttpPeer::Options options = peer_options(request);
  if (std::holds_alternative<Batch>(message) && revision != nullptr && !revision->batches) {
    refuse_over_http(dispatcher_, refused_batch(), *HttpPeer::make(dispatcher_.loop(), exchange, options));
    return std::nullopt;
  }
  if (const auto* malformed = std::get_if<Malformed>(&message)) {
    refuse_over_http(dispatcher_, *malformed, *HttpPeer::make(dispatcher_.loop(), exchange, options));
    return std::nullopt;
  }
  const auto* asked = std::get_if<Request>(&message);
  if (asked != nullptr && (mcp::is_stateless_request(asked->params) || is_stateless(revision))) {
    options.may_stream = options.may_stream || asked->method == "subscriptions/listen";
    options.errors_have_status = true;
    return stateless_way(request, *asked, *HttpPeer::make(dispatcher_.loop(), exchange, options));
  }
  // Nothing is known that such a notification could be about: requests are cancelled by disconnecting.
  if (std::holds_alternative<Notification>(message) && is_stateless(revision)) {
    exchange.respond({202, {}, {}, {}});
    return std::nullopt;
  }
  if (request.headers.find(mcp::kRevisionHeader) && revision == nullptr) {
    exchange.respond(refusal(400, std::string(mcp::kRevisionHeader) + " names a revision that is not served"));
    return std::nullopt;
  }
  if (asked != nullptr && asked->method == "initialize")
    return new_session_way(request, *asked, *HttpPeer::make(dispatcher_.loop(), exchange, options));
  return session_way(request, asked, exchange);
}

std::optional<StreamableHttp::Way> StreamableHttp::stateless_way(const http::Request& request, const Request& message,
                                                                 HttpPeer& peer) {
  auto session = dispatcher_.make_session(request.principal);
  try {
    check_revision_header(request.headers, message);
    dispatcher_.mcp().client_of(message, *session);
    check_stateless_headers(request.headers, message, dispatcher_.mcp().catalogue());
  } catch (const RpcError& error) {
    dispatcher_.note_refused(message, error, peer);
    peer.answer_with_status(400, error_message(message.id, error));
    return std::nullopt;
  }
  return Way{std::move(session), peer.shared_from_this(), Delivery::kPush};
}

std::optional<StreamableHttp::Way> StreamableHttp::session_way(const http::Request& request, const Request* message,
                                                               http::Exchange& exchange) {
  const auto [session, streams] = sessions_.of(request);
  if (session == nullptr) {
    exchange.respond(no_such_session());
    return std::nullopt;
  }
  if (message != nullptr && message->method == "tools/call" && streams != nullptr && accepts_events(request.headers)) {
    const auto& handshake = session->handshake;
    auto& stream = streams->add({.id = {},
                                 .primes = handshake && handshake->revision->primes_event_streams,
                                 .headers = {},
                                 .remote = request.remote,
                                 .memory = {}});
    Way way{session->shared_from_this(), stream.shared_from_this(), Delivery::kPush};
    stream.begin(exchange);
    return way;
  }
  auto peer = HttpPeer::make(dispatcher_.loop(), exchange, peer_options(request));
  const auto delivery = peer->facts().takes_messages ? Delivery::kPush : Delivery::kPoll;
  return Way{session->shared_from_this(), std::move(peer), delivery};
}

std::optional<StreamableHttp::Way> StreamableHttp::new_session_way(const http::Request& request, const Request& message,
                                                                   HttpPeer& peer) {
  const bool can_be_agreed_on = message.params.is_object() && message.params.contains("protocolVersion") &&
                                message.params["protocolVersion"].is_string();
  // A request without a version is answered with an error, and opens no session.
  if (!can_be_agreed_on)
    return Way{dispatcher_.make_session(request.principal), peer.shared_from_this(), Delivery::kPoll};
  const auto opened = sessions_.open(request);
  if (!opened) {
    peer.answer_with_status(503, error_message(message.id, too_many_sessions()));
    return std::nullopt;
  }
  peer.add_header(mcp::kSessionHeader, opened->id);
  return Way{opened->session.shared_from_this(), peer.shared_from_this(), Delivery::kPoll};
}

void StreamableHttp::get(const http::Request& request, http::Exchange& exchange) {
  if (!request.headers.find(mcp::kSessionHeader)) {
    http::Response response =
        refusal(405, "GET is for the events of a session, named by " + std::string(mcp::kSessionHeader));
    response.headers.add("Allow", "POST");
    return exchange.respond(response);
  }
  auto* const streams = sessions_.of(request).streams;
  if (streams == nullptr) return exchange.respond(no_such_session());
  if (!accepts_events(request.headers)) return exchange.respond(refusal(406, "Accept must be text/event-stream"));
  const auto last_seen = request.headers.find("Last-Event-ID");
  if (!last_seen) {
    if (streams->standing().is_attached())
      return exchange.respond(refusal(409, "this session's events are being read already"));
    return streams->standing().resume(exchange, std::nullopt);
  }
  const auto position = parse_event_id(*last_seen);
  EventStream* const stream = position ? streams->find(position->stream) : nullptr;
  if (stream == nullptr || stream->closed())
    return exchange.respond(refusal(404, "the events after this id are not kept any more"));
  if (stream->ended() && !stream->has_after(position->number)) {
    http::Response response = refusal(405, "the stream has ended, and there is nothing more of it");
    response.headers.add("Allow", "POST, DELETE");
    return exchange.respond(std::move(response));
  }
  const auto kept = stream->shared_from_this();
  stream->resume(exchange, position->number);
}

void StreamableHttp::end_session(const http::Request& request, http::Exchange& exchange) {
  const auto id = request.headers.find(mcp::kSessionHeader);
  if (!id) return exchange.respond(refusal(400, std::string(mcp::kSessionHeader) + " is missing"));
  if (sessions_.of(request).session == nullptr || !sessions_.end(*id)) return exchange.respond(no_such_session());
  exchange.respond({204, {}, {}, {}});
}

}  // namespace rkllm_mcp
