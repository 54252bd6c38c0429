#include "mcp/protocol/era.hpp"

#include "call/session.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/tools/invocation.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

// Requests to the client that belong together: the tool goes on when all are answered.
struct Round {
  std::shared_ptr<Invocation> invocation;
  Json inputs = Json::object();
  Json state;
  std::size_t open = 0;
  ServerRequests& requests;  // of the handshake, which the invocation's when_ended() keeps

  // Nobody is waited for any more. Idempotent.
  void end() {
    if (std::exchange(invocation, nullptr)) requests.end_round();
  }
};

void take_answer(Round& round, const std::string& key, const Response& response) {
  const auto invocation = round.invocation;
  if (!invocation || invocation->ended()) return;
  if (!response.error.is_null()) {
    if (has_fault("what a client refuses to answer is waited for")) return;
    round.end();
    const auto& error = response.error;
    const bool has_reason = error.is_object() && error.contains("message") && error["message"].is_string();
    return invocation->error(
        RpcError(ErrorCode::kInternalError,
                 "the client refused " + key + (has_reason ? ": " + error["message"].get<std::string>() : "")));
  }
  round.inputs[key] = response.result;
  if (--round.open > 0) return;
  round.end();
  invocation->run_again(std::move(round.inputs), std::move(round.state));
}

class HandshakeEra final : public Era {
 public:
  bool has_handshake() const override { return true; }

  ClientContext client_of(const Revision& revision, const Json& /*params*/, const Session& session) const override {
    const auto& handshake = session.handshake;
    if (!handshake) return {&revision, Json::object(), std::nullopt};
    return {handshake->revision, handshake->capabilities, handshake->log_level};
  }

  Json result(Json body, const std::optional<Freshness>& /*freshness*/, const Json& /*server*/) const override {
    return body;
  }

  // The requests are sent before the answer to the client's own request, on the same way; each answer is a new message.
  void ask(Invocation& invocation, InputRequests requests, Json state) const override {
    if (requests.empty()) return invocation.run_again(Json::object(), std::move(state));
    const auto handshake = invocation.request().session->handshake;
    const auto round = std::make_shared<Round>(
        Round{invocation.shared_from_this(), Json::object(), std::move(state), requests.size(), handshake->requests});
    std::vector<RequestId> ids;
    for (auto& request : requests) {
      ids.push_back(handshake->requests.add(
          [round, key = request.key](const Response& response) { take_answer(*round, key, response); }));
    }
    // However the invocation ends, nobody waits for the answers any more; what was kept for them holds the invocation.
    invocation.when_ended([handshake, ids, round] {
      round->end();
      for (const auto& id : ids) handshake->requests.forget(id);
    });
    handshake->requests.begin_round();
    for (std::size_t at = 0; at < ids.size(); ++at) {
      invocation.request().reply->message(request_message(ids[at], requests[at].method, requests[at].params));
    }
  }
};

}  // namespace

const Era& handshake_era() {
  // It has no state. One for the whole process, since the constant table of revisions refers to it.
  static const HandshakeEra kEra;
  return kEra;
}

}  // namespace rkllm_mcp::mcp
