#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"

#include "call/session.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/state_seal.hpp"
#include "mcp/tools/invocation.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

std::optional<Severity> log_level_of(const Json& meta) {
  const auto given = meta.find(kMetaLogLevel);
  if (given == meta.end()) return std::nullopt;
  const auto level = given->is_string() ? severity_named(given->get<std::string>()) : std::nullopt;
  if (!level) throw InvalidParams(std::string("params._meta.") + kMetaLogLevel, "no such level");
  return level;
}

class StatelessEra final : public Era {
 public:
  bool has_handshake() const override { return false; }

  ClientContext client_of(const Revision& revision, const Json& params, const Session& /*session*/) const override {
    const Json& meta = params.at("_meta");
    const auto capabilities = meta.find(kMetaCapabilities);
    if (capabilities == meta.end()) throw InvalidParams(std::string("params._meta.") + kMetaCapabilities, "missing");
    if (!capabilities->is_object()) {
      throw InvalidParams(std::string("params._meta.") + kMetaCapabilities, "expected object");
    }
    const auto log_level = log_level_of(meta);  // here: GCC 11 leaks what a braced list holds when a part of it throws
    return {&revision, *capabilities, log_level};
  }

  Json result(Json body, const std::optional<Freshness>& freshness, const Json& server) const override {
    if (!body.contains("resultType")) body["resultType"] = "complete";
    if (freshness) {
      body["ttlMs"] = freshness->lasts.count();
      body["cacheScope"] = freshness->scope == Freshness::Scope::kPublic ? "public" : "private";
    }
    body["_meta"][kMetaServer] = server;
    return body;
  }

  void ask(Invocation& invocation, InputRequests requests, Json state) const override {
    Json asked = Json::object();
    for (auto& request : requests)
      asked[request.key] = {{"method", request.method}, {"params", std::move(request.params)}};
    Json body{{"resultType", "input_required"}};
    if (!asked.empty()) body["inputRequests"] = std::move(asked);
    if (!state.is_null())
      body["requestState"] = invocation.request().seal->seal(state, subject_of(invocation.request()));
    invocation.result(std::move(body));
  }
};

}  // namespace

const Era& stateless_era() {
  // It has no state. One for the whole process, since the constant table of revisions refers to it.
  static const StatelessEra kEra;
  return kEra;
}

bool is_stateless_request(const Json& params) {
  const auto claim = claimed_revision(params);
  if (!claim) return false;
  const Revision* const revision = claim->is_string() ? find_revision(claim->get<std::string>()) : nullptr;
  return revision == nullptr || !revision->era.has_handshake();
}

std::optional<Json> claimed_revision(const Json& params) {
  if (!params.is_object()) return std::nullopt;
  const auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return std::nullopt;
  const auto claim = meta->find(kMetaRevision);
  if (claim == meta->end()) return std::nullopt;
  return *claim;
}

}  // namespace rkllm_mcp::mcp
