#include "client/mcp/mcp_handshake.hpp"

#include "client/mcp/message_facts.hpp"
#include "json_members.hpp"
#include "mcp/protocol/agreed_names.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::client {
namespace {

Json object_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

// Whether such an answer to `server/discover` means that the server does not know the modern era. Legacy servers say so
// in many ways; over HTTP with a status of 400 to 499.
bool is_of_legacy_server(const RemoteError& error) {
  constexpr int kLowest = -32768;
  constexpr int kHighest = -32000;
  const Json status = error.data.is_object() ? error.data.value("status", Json()) : Json();
  if (status.is_number_integer()) return status >= 400 && status < 500;
  // These say that the era is right, and the request is not; or that the server is at fault.
  const auto code = static_cast<ErrorCode>(error.code);
  if (code == ErrorCode::kHeaderMismatch || code == ErrorCode::kMissingCapability || code == ErrorCode::kInternalError)
    return false;
  return error.code >= kLowest && error.code <= kHighest;
}

bool speaks_modern(const Json& discovery) {
  const auto versions = discovery.find("supportedVersions");
  return versions != discovery.end() && versions->is_array() &&
         std::find(versions->begin(), versions->end(), Json(kModernRevision)) != versions->end();
}

ServerFacts facts_of_discovery(const Json& result) {
  ServerFacts facts{false, kModernRevision};
  facts.info = object_of(object_of(result, "_meta"), mcp::kMetaServer);
  facts.capabilities = object_of(result, "capabilities");
  facts.instructions = text_in(result, "instructions");
  return facts;
}

// Nothing if the server is not of the modern era.
std::optional<ServerFacts> discover(NumberedRequests& requests, const Introduction& introduction) {
  const bool is_probe = introduction.era == EraChoice::kAuto;
  const auto outcome = requests.call("server/discover", with_modern_meta(Json::object(), introduction.client_info),
                                     is_probe ? introduction.probe_patience : introduction.patience);
  if (!outcome) {
    if (is_probe) return std::nullopt;
    throw ConnectionError("the server does not answer server/discover");
  }
  if (const auto* error = std::get_if<RemoteError>(&*outcome)) {
    if (is_probe && is_of_legacy_server(*error)) return std::nullopt;
    throw RemoteRefusal(*error);
  }
  const Json& result = std::get<Json>(*outcome);
  if (result.is_object() && speaks_modern(result)) return facts_of_discovery(result);
  if (is_probe) return std::nullopt;
  throw ConnectionError("the server does not speak MCP " + std::string(kModernRevision));
}

ServerFacts initialize(NumberedRequests& requests, const Introduction& introduction) {
  const auto outcome = requests.call("initialize",
                                     {{"protocolVersion", kLegacyRevisions.front()},
                                      {"capabilities", introduction.capabilities},
                                      {"clientInfo", introduction.client_info}},
                                     introduction.patience);
  if (!outcome) throw ConnectionError("the server does not answer initialize");
  if (const auto* error = std::get_if<RemoteError>(&*outcome)) throw RemoteRefusal(*error);
  const Json& result = std::get<Json>(*outcome);
  const std::string revision = text_in(result, "protocolVersion");
  if (!is_legacy_revision(revision)) {
    throw ConnectionError("the server wants to speak MCP \"" + revision + "\", which this client does not");
  }
  requests.notify("notifications/initialized", Json::object());
  return {true, revision, object_of(result, "serverInfo"), object_of(result, "capabilities"),
          text_in(result, "instructions")};
}

}  // namespace

ServerFacts shake_hands(NumberedRequests& requests, const Introduction& introduction) {
  if (introduction.era != EraChoice::kLegacy) {
    if (auto facts = discover(requests, introduction)) return *std::move(facts);
  }
  return initialize(requests, introduction);
}

Json with_modern_meta(Json params, const Json& client_info) {
  Json& meta = params["_meta"];
  meta[mcp::kMetaRevision] = kModernRevision;
  meta[mcp::kMetaClient] = client_info;
  if (!meta.contains(mcp::kMetaCapabilities)) meta[mcp::kMetaCapabilities] = Json::object();
  return params;
}

}  // namespace rkllm_mcp::client
