#include "mcp/lists/resource_reader.hpp"

#include "call/permission.hpp"
#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

constexpr Freshness kSeldomChanges{std::chrono::minutes(1), Freshness::Scope::kPublic};  // with the runtime
constexpr Freshness kChanges{};

Json contents(const std::string& uri, const std::string& mime_type, ResourceText text) {
  Json content{{"uri", uri}};
  if (!mime_type.empty()) content["mimeType"] = mime_type;
  if (!text.meta.is_null()) content["_meta"] = Json{{"rkllm/values", std::move(text.meta)}};
  content[text.binary ? "blob" : "text"] = std::move(text.text);
  return Json{{"contents", Json::array({std::move(content)})}};
}

// Only what follows the scheme is compared: it is what clients get wrong. Long addresses, of which upstreams may have
// many, are not compared at all: it takes too long.
std::string hint_for(std::string_view uri, const Catalogue& catalogue, const Session& session) {
  constexpr std::size_t kLongestCompared = 192;
  const auto behind_scheme = [](std::string_view whole) {
    const auto scheme = whole.find("://");
    return scheme == std::string_view::npos ? whole : whole.substr(scheme + 3);
  };
  std::vector<std::string_view> whole;
  std::vector<std::string_view> known;
  for (const auto& resource : catalogue.resources) {
    if (resource.uri.size() > kLongestCompared || !is_permitted(session, resource.permission)) continue;
    whole.push_back(resource.uri);
    known.push_back(behind_scheme(resource.uri));
  }
  const auto nearest = nearest_name(behind_scheme(uri), known);
  if (!nearest) return {};
  const auto at = static_cast<std::size_t>(std::find(known.begin(), known.end(), *nearest) - known.begin());
  return "; did you mean \"" + std::string(whole[at]) + "\"?";
}

}  // namespace

ResourceReading read_resource(const Catalogue& catalogue, const Session& session, const std::string& uri) {
  for (const auto& resource : catalogue.resources) {
    if (resource.uri != uri) continue;
    permit(session, resource.permission);
    const bool is_everybodys = resource.permission == Permission::kCall;
    return {contents(uri, resource.mime_type, resource.read()),
            resource.size && is_everybodys ? kSeldomChanges : kChanges};
  }
  for (const auto& each : catalogue.templates) {
    if (!is_permitted(session, each.permission)) continue;
    if (auto text = each.read(uri)) return {contents(uri, each.mime_type, *std::move(text)), kChanges};
  }
  constexpr std::size_t kLongestTold = 256;
  throw RpcError(ErrorCode::kInvalidParams,
                 "params.uri: no resource " + to_text(shortened(uri)) + " exists" + hint_for(uri, catalogue, session),
                 Json{{"uri", uri.size() <= kLongestTold ? uri : shortened(uri)}});
}

}  // namespace rkllm_mcp::mcp
