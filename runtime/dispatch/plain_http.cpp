#include "dispatch/plain_http.hpp"

#include "dispatch/http_peer.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"

#include <string>
#include <utility>
#include <variant>

namespace rkllm_mcp {

void read_body(Dispatcher& dispatcher, const http::Request& request, http::Exchange& exchange, BodyFunction then,
               NullIds null_ids) {
  if (request.body.size() <= kReadAtOnceBytes) return then(request, dispatcher.reader().parse(request.body, null_ids));
  const MessageReader::Sender sender{request.remote, [kept = exchange.shared_from_this()] { return !kept->closed(); }};
  http::Request head(request);
  std::string body = std::exchange(head.body, {});
  dispatcher.reader().read(
      std::move(body), sender,
      [head = std::move(head), then = std::move(then)](const Message& message) { then(head, message); }, null_ids);
}

void refuse_over_http(Dispatcher& dispatcher, const Malformed& malformed, HttpPeer& peer) {
  dispatcher.note_malformed(malformed, peer);
  const bool is_our_fault = malformed.error.code() == ErrorCode::kQueueFull;  // there is no memory for it
  peer.answer_with_status(is_our_fault ? 503 : 400, error_message(malformed.id, malformed.error));
}

void cancel_when_gone(Peer& peer, Session& session) {
  peer.when_closed([weak_session = session.weak_from_this(), weak_peer = peer.weak_from_this()] {
    if (has_fault("nobody notices that the client of a request over HTTP has gone")) return;
    const auto alive = weak_session.lock();
    const auto exchange = weak_peer.lock();
    if (alive && exchange) alive->exchange_gone(*exchange);
  });
}

void PlainHttp::handle(const http::Request& request, http::Exchange& exchange) {
  if (request.method != "POST") {
    http::Response response = http::plain_response(405, "Send JSON-RPC messages with POST.");
    response.headers.add("Allow", "POST");
    return exchange.respond(response);
  }
  Session* const found = sessions_.of(request).session;
  if (found == nullptr) return exchange.respond(no_such_session());
  const auto peer = HttpPeer::make(dispatcher_.loop(), exchange, {.remote = request.remote});
  const auto execute = [this, session = found->shared_from_this(), peer](const http::Request&, const Message& message) {
    if (std::holds_alternative<Batch>(message)) return refuse_over_http(dispatcher_, refused_batch(), *peer);
    if (const auto* malformed = std::get_if<Malformed>(&message)) {
      return refuse_over_http(dispatcher_, *malformed, *peer);
    }
    cancel_when_gone(*peer, *session);
    dispatcher_.receive(message, *session, peer->answer(), Delivery::kPoll);
  };
  read_body(dispatcher_, request, exchange, execute, NullIds::kTaken);
}

}  // namespace rkllm_mcp
