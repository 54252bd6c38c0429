#include "dispatch/gate.hpp"

#include "auth/owner.hpp"
#include "clock.hpp"
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

std::string_view text_member(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

// What a UDP client sends along with each message.
std::string_view token_of(const Message& message) {
  const Json* params = nullptr;
  if (const auto* request = std::get_if<Request>(&message)) params = &request->params;
  if (const auto* notification = std::get_if<Notification>(&message)) params = &notification->params;
  if (params == nullptr || !params->is_object()) return {};
  const auto meta = params->find("_meta");
  return meta == params->end() ? std::string_view() : text_member(*meta, "token");
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

const Principal* Gate::let_in(std::string_view token, std::string_view address) {
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

const Principal* Gate::let_in(const Peer& peer) {
  if (peer.transport() == TransportKind::kStdio) return &everybody_;
  return let_in(peer.credential(), peer.address());
}

std::string Gate::complaint(std::string_view address) {
  if (!throttle_.is_full(address, GuessThrottle::Clock::now())) return "nobody has this access token";
  return "too many wrong access tokens have come from this address: none is looked at now, try again later";
}

void Gate::refuse_guess(const std::string& address, std::function<void()> refuse) {
  const auto pause = throttle_.line_up(address, GuessThrottle::Clock::now());
  if (pause.count() == 0) return refuse();
  const auto timer = std::make_shared<Timer>(loop_, pause);
  timer->async_wait([timer, refuse = std::move(refuse)](const asio::error_code&) { refuse(); });
}

Gate::Verdict Gate::admit(const Message& message, Session& session, Peer& peer) {
  if (session.is_refused) {  // it is being told
    Reply::unanswered(peer).nothing();
    return Verdict::kRefused;
  }
  const auto* request = std::get_if<Request>(&message);
  if (request != nullptr && request->method == "auth") {
    return authenticate(*request, session, peer);
  }
  const bool over_udp = peer.transport() == TransportKind::kUdp;
  const std::string token(over_udp ? token_of(message) : peer.credential());
  if (over_udp) session.principal = let_in(token, peer.address());
  if (session.principal != nullptr) {
    if (!tokens_.empty()) peer.proved();
    return Verdict::kExecute;
  }
  refuse(message, token, over_udp ? kHowToOverUdp : kHowTo, session, peer);
  return Verdict::kRefused;
}

void Gate::refuse_stranger(const std::string& reason, Session& session, Peer& peer) {
  refuse(Malformed{RequestId(kNullId), unauthorized(reason)}, peer.credential(), reason, session, peer);
}

void Gate::refuse(const Message& message, std::string_view token, const std::string& reason, Session& session,
                  Peer& peer) {
  const auto* request = std::get_if<Request>(&message);
  const bool is_answered = !std::holds_alternative<Notification>(message);
  // A connection is its transport's, and may go meanwhile; who lives for one message (HTTP, a batch) is nobody else's.
  const bool is_connection = session.outlet.lock().get() == &peer;
  const auto tell = [kept = is_connection ? nullptr : peer.shared_from_this(), weak = peer.weak_from_this(),
                     is_answered, reason, id = request != nullptr ? request->id : RequestId(kNullId)] {
    const auto client = weak.lock();
    if (!client) return;
    if (is_answered) {
      Reply(*client, id).error(unauthorized(reason));
    } else {
      Reply::unanswered(*client).nothing();
    }
    client->refuse();
  };
  if (token.empty()) return tell();
  if (peer.transport() == TransportKind::kUdp) {
    // Nothing bounds how many datagrams come: none of them is kept.
    const bool is_slow = throttle_.failed(peer.address(), GuessThrottle::Clock::now()).count() > 0;
    return is_slow ? Reply::unanswered(peer).nothing() : tell();
  }
  // Until it is told, nothing else that this connection says counts.
  session.is_refused = peer.transport() != TransportKind::kHttp;
  refuse_guess(peer.address(), tell);
}

Gate::Verdict Gate::authenticate(const Request& request, Session& session, Peer& peer) {
  const std::string_view token = text_member(request.params, "token");
  const Principal* const principal = let_in(token, peer.address());
  if (principal == nullptr) {
    refuse(request, token, complaint(peer.address()), session, peer);
    return Verdict::kRefused;
  }
  Reply reply(peer, request.id);
  if (peer.transport() != TransportKind::kHttp) session.principal = principal;
  if (!tokens_.empty()) peer.proved();
  reply.result(describe(*principal));
  return Verdict::kProved;
}

}  // namespace rkllm_mcp
