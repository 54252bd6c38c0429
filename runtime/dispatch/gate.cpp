#include "dispatch/gate.hpp"

#include "jsonrpc/reply.hpp"

#include <rkllm_mcp/errors.hpp>

#include <variant>

namespace rkllm_mcp {
namespace {

constexpr const char* kHowTo =
    "a token is required: send {\"method\":\"auth\",\"params\":{\"token\":\"...\"}} first, over HTTP the header "
    "Authorization: Bearer";
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

const Principal* Gate::identify(const Peer& peer) const {
  if (peer.transport() == TransportKind::kStdio) return &everybody_;
  return identify(peer.credential());
}

Gate::Verdict Gate::admit(const Message& message, Session& session, const std::shared_ptr<Peer>& peer) const {
  const auto* request = std::get_if<Request>(&message);
  if (request != nullptr && request->method == "auth") {
    return authenticate(*request, session, peer);
  }
  const bool over_udp = peer->transport() == TransportKind::kUdp;
  if (over_udp) session.principal = identify(token_of(message));
  if (session.principal != nullptr) {
    if (!tokens_.empty()) peer->proved();
    return Verdict::kExecute;
  }
  if (std::holds_alternative<Notification>(message)) {
    Reply::unanswered(peer).nothing();
  } else {
    Reply(peer, request != nullptr ? request->id : RequestId(kNullId))
        .error(unauthorized(over_udp ? kHowToOverUdp : kHowTo));
  }
  peer->refuse();
  return Verdict::kRefused;
}

Gate::Verdict Gate::authenticate(const Request& request, Session& session, const std::shared_ptr<Peer>& peer) const {
  const Principal* const principal = identify(text_member(request.params, "token"));
  Reply reply(peer, request.id);
  if (principal == nullptr) {
    reply.error(unauthorized("nobody has this token"));
    peer->refuse();
    return Verdict::kRefused;
  }
  if (peer->transport() != TransportKind::kHttp) session.principal = principal;
  if (!tokens_.empty()) peer->proved();
  reply.result(describe(*principal));
  return Verdict::kProved;
}

}  // namespace rkllm_mcp
