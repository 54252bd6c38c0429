#include "dispatch/gate.hpp"

#include "auth/access_tokens.hpp"
#include "auth/owner.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/reply.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace rkllm_mcp {
namespace {

constexpr const char* kHowTo =
    "an access token is required: send {\"method\":\"auth\",\"params\":{\"token\":\"...\"}} first, over HTTP the "
    "header Authorization: Bearer";
// Short: who has not proved itself is sent little.
constexpr const char* kHowToOverUdp = "params._meta.token is needed in each message";

// What a UDP client sends along with each message.
std::string_view token_of(const Message& message) {
  const Json* params = nullptr;
  if (const auto* request = std::get_if<Request>(&message)) params = &request->params;
  if (const auto* notification = std::get_if<Notification>(&message)) params = &notification->params;
  const Json* const meta = params == nullptr ? nullptr : member_of(*params, "_meta");
  return meta == nullptr ? std::string_view() : text_view_in(*meta, "token");
}

// Whether requests are in progress that have come from this address, which may be forged, with another token. They look
// later, too, whose they are: nobody else may become that meanwhile.
bool is_anothers(const Session& session, const Principal& sender) {
  return session.principal != nullptr && session.principal != &sender && !session.is_idle();
}

void refuse_other_holder(const Request* request, AnswerSink& answer) {
  if (request == nullptr) return Reply::unanswered(answer).nothing();
  Reply(answer, request->id)
      .error(unauthorized("another access token is in use at this address and port: take another port"));
}

Json describe(const Principal& principal) {
  Json permissions = Json::array();
  if (principal.may_call) permissions.push_back("call");
  if (principal.may_admin) permissions.push_back("admin");
  return Json{{"name", principal.name.empty() ? Json(nullptr) : Json(principal.name)},
              {"permissions", std::move(permissions)}};
}

}  // namespace

const Principal* Gate::identify(std::string_view token) const {
  if (tokens_.empty()) return &everybody_;
  return token.empty() ? nullptr : tokens_.find(token);
}

const Principal* Gate::principal_of(std::string_view token, std::string_view address) {
  const Principal* const found = identify(token);
  if (found == nullptr || tokens_.empty()) return found;
  const Clock::time_point now = Clock::now();
  Proved who(source_of(address), found);
  if (throttle_.is_full(address, now) && !proved_.contains(who)) return nullptr;
  proved_[std::move(who)] = now;
  if (proved_.size() > kMostProved) {
    proved_.erase(std::ranges::min_element(proved_, {}, [](const auto& entry) { return entry.second; }));
  }
  return found;
}

const Principal* Gate::principal_of(const Peer& peer) {
  if (peer.facts().transport == TransportKind::kStdio) return &everybody_;
  return principal_of(peer.facts().credential, peer.facts().address);
}

std::string Gate::complaint(std::string_view address) {
  if (!throttle_.is_full(address, Clock::now())) return "nobody has this access token";
  return "too many wrong access tokens have come from this address: none is looked at now, try again later";
}

void Gate::refuse_guess(const std::string& address, std::function<void()> refuse) {
  const auto pause = throttle_.line_up(address, Clock::now());
  if (pause.count() == 0) return refuse();
  call_after(loop_, pause, std::move(refuse));
}

Gate::Admission Gate::admit(const Message& message, Session& session, AnswerSink& answer) {
  if (session.is_refused) {  // its refusal is on its way, and ends the connection
    Reply::unanswered(answer).nothing();
    return Admission::kRefused;
  }
  const auto* request = std::get_if<Request>(&message);
  if (request != nullptr && request->method == "auth") {
    return authenticate(*request, session, answer);
  }
  const PeerFacts& client = answer.peer().facts();
  const bool over_udp = client.transport == TransportKind::kUdp;
  const std::string_view token = over_udp ? token_of(message) : client.credential;
  const Principal* const sender = over_udp ? principal_of(token, client.address) : session.principal;
  if (sender == nullptr) {
    refuse(message, token, over_udp ? kHowToOverUdp : kHowTo, session, answer);
    return Admission::kRefused;
  }
  if (over_udp && is_anothers(session, *sender)) {
    refuse_other_holder(request, answer);
    return Admission::kRefused;
  }
  session.principal = sender;
  if (!tokens_.empty()) answer.peer().prove();
  return Admission::kExecute;
}

void Gate::refuse_stranger(const std::string& reason, Session& session, AnswerSink& answer) {
  refuse(Malformed{RequestId(kNullId), unauthorized(reason)}, answer.peer().facts().credential, reason, session,
         answer);
}

void Gate::refuse(const Message& message, std::string_view token, const std::string& reason, Session& session,
                  AnswerSink& answer) {
  const auto* request = std::get_if<Request>(&message);
  // An answer is never answered, or two servers that are told of each other's errors would not stop.
  const bool is_answered = !std::holds_alternative<Notification>(message) && !std::holds_alternative<Response>(message);
  // A connection belongs to its transport and may close before it is told: it is held weakly. What answers one message
  // only (an HTTP exchange, a batch) has no other owner, and is kept.
  const auto outlet = session.outlet.lock();
  const bool is_connection = outlet && &outlet->answer() == &answer;
  const auto tell = [kept = is_connection ? nullptr : answer.keep(), weak = std::weak_ptr(answer.keep()), is_answered,
                     reason, id = request != nullptr ? request->id : RequestId(kNullId)] {
    const auto alive = weak.lock();
    if (!alive) return;
    if (is_answered) {
      Reply(*alive, id).error(unauthorized(reason));
    } else {
      Reply::unanswered(*alive).nothing();
    }
    alive->refuse();
  };
  if (token.empty()) return tell();
  const PeerFacts& client = answer.peer().facts();
  if (client.transport == TransportKind::kUdp) {
    // Nothing bounds how many datagrams come: none of them is kept.
    const bool is_slow = throttle_.failed(client.address, Clock::now()).count() > 0;
    return is_slow ? Reply::unanswered(answer).nothing() : tell();
  }
  // Until the refusal has been sent, nothing else that this connection sends is executed.
  session.is_refused = client.transport != TransportKind::kHttp;
  refuse_guess(client.address, tell);
}

Gate::Admission Gate::authenticate(const Request& request, Session& session, AnswerSink& answer) {
  const PeerFacts& client = answer.peer().facts();
  const std::string_view token = text_view_in(request.params, "token");
  const Principal* const principal = principal_of(token, client.address);
  if (principal == nullptr) {
    refuse(request, token, complaint(client.address), session, answer);
    return Admission::kRefused;
  }
  if (client.transport == TransportKind::kUdp && is_anothers(session, *principal)) {
    refuse_other_holder(&request, answer);
    return Admission::kRefused;
  }
  Reply reply(answer, request.id);
  if (client.transport != TransportKind::kHttp) session.principal = principal;
  if (!tokens_.empty()) answer.peer().prove();
  reply.result(describe(*principal));
  return Admission::kProved;
}

}  // namespace rkllm_mcp
