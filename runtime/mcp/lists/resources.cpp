#include "mcp/lists/resources.hpp"

#include "call/permission.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/lists/lists.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

// A list that goes on in a service's documents has the cursor "documents-NAME:", followed by the service's own cursor.
constexpr std::string_view kOfService = "documents-";

std::string_view cursor_in(const Json& params) {
  if (!params.is_object()) return {};
  const auto cursor = params.find("cursor");
  if (cursor == params.end() || !cursor->is_string()) return {};
  return cursor->get_ref<const std::string&>();
}

// Where the list goes on: the first service with documents, or the one behind `behind`.
const Immutable<Service>* next_with_documents(const Catalogue& catalogue, const Service* behind) {
  bool is_behind = behind == nullptr;
  for (const auto& each : catalogue.services) {
    if (is_behind && each->documents.list) return &each;
    is_behind = is_behind || each.get() == behind;
  }
  return nullptr;
}

std::string cursor_of(const Service& service, const std::string& own) {
  return std::string(kOfService) + service.name + ":" + own;
}

void add_documents(const Catalogue& catalogue, Session& session, const Immutable<Service>& service,
                   std::string own_cursor, Json page, PageLimits limits, DoneFunction done) {
  const std::size_t shown = page["resources"].size();
  if (shown >= limits.items || (shown > 0 && limits.bytes == 0)) {
    page["nextCursor"] = cursor_of(*service, own_cursor);
    return done(std::move(page), nullptr);
  }
  service->documents.list(*session.principal, {std::move(own_cursor), limits.items - shown, limits.bytes},
                          [&catalogue, kept = session.shared_from_this(), service, page = std::move(page),
                           done = std::move(done)](Json more, const std::exception_ptr& error) mutable {
                            if (error) return done(nullptr, error);
                            for (Json& entry : more["resources"]) page["resources"].push_back(std::move(entry));
                            const auto* const next = next_with_documents(catalogue, service.get());
                            if (more.contains("nextCursor")) {
                              page["nextCursor"] = cursor_of(*service, more["nextCursor"].get<std::string>());
                            } else if (next != nullptr) {
                              page["nextCursor"] = cursor_of(**next, {});
                            }
                            done(std::move(page), nullptr);
                          });
}

std::size_t limit_in(const Json& params, std::size_t most) {
  const auto limit = params.is_object() ? params.find("limit") : params.end();
  if (!params.is_object() || limit == params.end() || limit->is_null()) return most;
  if (!limit->is_number_unsigned() || *limit < 1 || *limit > 1000) {
    throw InvalidParams("params.limit", "expected an integer from 1 to 1000");
  }
  return limit->get<std::size_t>();
}

}  // namespace

bool lists_documents(const Catalogue& catalogue, const Json& params) {
  if (cursor_in(params).starts_with(kOfService)) return true;
  return next_with_documents(catalogue, nullptr) != nullptr;
}

void list_with_documents(const Catalogue& catalogue, Session& session, const Json& params, const PageLimits& limits,
                         DoneFunction done) {
  const std::string_view cursor = cursor_in(params);
  if (!cursor.starts_with(kOfService)) {
    Json page = list_resources(catalogue, session, params, limits);
    const auto* const service = next_with_documents(catalogue, nullptr);
    if (page.contains("nextCursor") || service == nullptr) return done(std::move(page), nullptr);
    const std::size_t bytes = page.dump().size();
    return add_documents(catalogue, session, *service, {}, std::move(page),
                         {limits.items, limits.bytes - std::min(bytes, limits.bytes)}, std::move(done));
  }
  const std::string_view rest = cursor.substr(kOfService.size());
  const auto colon = rest.find(':');
  const auto service = std::ranges::find_if(catalogue.services, [&](const auto& each) {
    return colon != std::string_view::npos && each->name == rest.substr(0, colon) && each->documents.list;
  });
  if (service == catalogue.services.end()) throw InvalidParams("params.cursor", "not a cursor of this list");
  add_documents(catalogue, session, *service, std::string(rest.substr(colon + 1)), Json{{"resources", Json::array()}},
                limits, std::move(done));
}

void list_documents_of(const Service& service, const Principal& principal, const Json& params, const PageLimits& limits,
                       DoneFunction done) {
  if (!service.documents.list) return done(Json{{"resources", Json::array()}}, nullptr);
  if (params.is_object() && params.contains("cursor") && !params["cursor"].is_string() && !params["cursor"].is_null()) {
    throw InvalidParams("params.cursor", "expected string");
  }
  service.documents.list(principal, {std::string(cursor_in(params)), limit_in(params, limits.items), limits.bytes},
                         std::move(done));
}

void describe_service(const Service& service, const Principal& principal, std::size_t most_documents,
                      std::function<void(Json capabilities)> done) {
  Catalogue own;
  own.tools = service.tools;
  own.prompts = service.prompts;
  Session session({});
  session.principal = &principal;
  const PageLimits all{std::max(own.tools.size(), own.prompts.size()), static_cast<std::size_t>(-1)};
  Json capabilities{{"tools", list_tools(own, session, nullptr, all)["tools"]}};
  auto finish = [capabilities, prompts = list_prompts(own, session, nullptr, all)["prompts"],
                 done = std::move(done)](Json resources) mutable {
    capabilities["resources"] = std::move(resources);
    capabilities["prompts"] = std::move(prompts);
    done(std::move(capabilities));
  };
  list_documents_of(service, principal, nullptr, {most_documents, static_cast<std::size_t>(-1)},
                    [finish](Json page, const std::exception_ptr& error) mutable {
                      finish(error ? Json::array() : std::move(page["resources"]));
                    });
}

const Immutable<Service>* service_offering(const Catalogue& catalogue, const std::string& uri) {
  for (const auto& each : catalogue.services) {
    if (each->documents.read && uri.starts_with(each->documents.scheme)) return &each;
  }
  return nullptr;
}

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
