#include "upstreams/upstream_document.hpp"

#include "json_members.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "upstreams/upstream_tool.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kScheme = "upstream://";
constexpr std::size_t kLargestEntry = std::size_t{256} << 10U;  // bytes, as JSON
constexpr std::size_t kLongestAddress = 2048;
constexpr std::size_t kLongestPromptName = 128;
constexpr std::size_t kMostServersBetween = 2;

const char* identity_of(Offered kind) {
  if (kind == Offered::kResources) return "uri";
  return kind == Offered::kTemplates ? "uriTemplate" : "name";
}

std::size_t servers_between(std::string_view address) {
  std::size_t count = 0;
  for (auto at = address.find(kScheme); at != std::string_view::npos; at = address.find(kScheme, at + 1)) ++count;
  return count;
}

bool are_arguments(const Json& arguments) {
  return arguments.is_array() &&
         std::ranges::all_of(arguments, [](const Json& each) { return each.is_object() && has_text(each, "name"); });
}

bool is_servable(Offered kind, const Json& listed) {
  if (!listed.is_object()) return false;
  const std::string identity = text_in(listed, identity_of(kind));
  if (identity.empty()) return false;
  if (kind == Offered::kPrompts) {
    if (identity.size() > kLongestPromptName) return false;
    if (listed.contains("arguments") && !are_arguments(listed["arguments"])) return false;
  } else if (identity.size() > kLongestAddress || servers_between(identity) > kMostServersBetween) {
    return false;
  }
  return listed.dump(-1, ' ', false, Json::error_handler_t::replace).size() <= kLargestEntry;
}

// People see in the title which upstream it comes from.
std::string titled(const std::string& upstream, const Json& listed) {
  const std::string title = has_text(listed, "title") ? text_in(listed, "title") : text_in(listed, "name");
  return title.empty() ? title : title + " (" + upstream + ")";
}

void serve_uri(const std::string& upstream, Json& object) {
  if (has_text(object, "uri")) object["uri"] = served_uri(upstream, text_in(object, "uri"));
}

void serve_uris_of_block(const std::string& upstream, Json& block) {
  if (!block.is_object()) return;
  if (text_in(block, "type") == "resource_link") serve_uri(upstream, block);
  if (const auto resource = block.find("resource"); resource != block.end() && resource->is_object()) {
    serve_uri(upstream, *resource);
  }
}

template <class Function>
void for_each_in(Json& result, const char* name, Function function) {
  const auto found = result.find(name);
  if (found == result.end() || !found->is_array()) return;
  for (Json& each : *found) function(each);
}

}  // namespace

std::string served_uri(const std::string& upstream, const std::string& uri) {
  return std::string(kScheme) + upstream + "/" + uri;
}

std::optional<UriThere> uri_there(const std::string& served) {
  if (!served.starts_with(kScheme)) return std::nullopt;
  const auto slash = served.find('/', kScheme.size());
  if (slash == std::string::npos) return std::nullopt;
  return UriThere{served.substr(kScheme.size(), slash - kScheme.size()), served.substr(slash + 1)};
}

Json passed_on(const Json& listed) {
  Json more = Json::object();
  for (const char* const name : {"icons", "annotations"}) {
    const auto found = listed.find(name);
    if (found != listed.end() && found->is_structured()) more[name] = *found;
  }
  if (const auto size = listed.find("size"); size != listed.end() && size->is_number()) more["size"] = *size;
  if (const auto meta = listed.find("_meta"); meta != listed.end() && meta->is_object()) more["_meta"] = *meta;
  return more;
}

std::size_t drop_unservable(Offered kind, std::vector<Json>& listed) {
  return std::erase_if(listed, [kind](const Json& each) { return !is_servable(kind, each); });
}

void drop_echoes(const std::string& upstream, std::vector<Json>& prompts) {
  std::set<std::string> echoes;
  for (const Json& prompt : prompts) {
    echoes.insert(served_name(upstream, text_in(prompt, "name")));
    echoes.insert(marked_name(upstream, text_in(prompt, "name")));
  }
  std::erase_if(prompts, [&echoes](const Json& prompt) { return echoes.contains(text_in(prompt, "name")); });
}

mcp::Resource served_resource(const std::string& upstream, const Json& listed) {
  mcp::Resource resource{served_uri(upstream, text_in(listed, "uri")),
                         upstream + "_" + text_in(listed, "name"),
                         titled(upstream, listed),
                         text_in(listed, "description"),
                         text_in(listed, "mimeType"),
                         {}};
  resource.more = passed_on(listed);
  return resource;
}

mcp::ResourceTemplate served_template(const std::string& upstream, const Json& listed) {
  mcp::ResourceTemplate served{served_uri(upstream, text_in(listed, "uriTemplate")),
                               upstream + "_" + text_in(listed, "name"),
                               titled(upstream, listed),
                               text_in(listed, "description"),
                               text_in(listed, "mimeType"),
                               [](std::string_view) -> std::optional<mcp::ResourceText> { return std::nullopt; }};
  served.more = passed_on(listed);
  return served;
}

mcp::Prompt served_prompt(const std::string& upstream, const Json& listed) {
  mcp::Prompt prompt;
  prompt.name = text_in(listed, "name");
  prompt.title = titled(upstream, listed);
  prompt.description = text_in(listed, "description");
  prompt.more = passed_on(listed);
  const Json arguments = listed.value("arguments", Json::array());
  for (const Json& each : arguments) {
    const auto required = each.find("required");
    prompt.arguments.push_back({text_in(each, "name"), text_in(each, "title"), text_in(each, "description"),
                                required != each.end() && *required == true});
  }
  return prompt;
}

bool is_reading(const Json& result) {
  if (!result.is_object()) return false;
  const auto contents = result.find("contents");
  return contents != result.end() && contents->is_array() && std::ranges::all_of(*contents, [](const Json& each) {
           return each.is_object() && has_text(each, "uri") && (has_text(each, "text") || has_text(each, "blob"));
         });
}

bool is_prompt(const Json& result) {
  if (!result.is_object()) return false;
  const auto messages = result.find("messages");
  return messages != result.end() && messages->is_array() && std::ranges::all_of(*messages, [](const Json& each) {
           return each.is_object() && has_text(each, "role") && each.contains("content") && each["content"].is_object();
         });
}

Json as_served(const std::string& upstream, Json result) {
  for (const char* const name : {"resultType", "ttlMs", "cacheScope"}) result.erase(name);
  if (const auto meta = result.find("_meta"); meta != result.end()) {
    const auto is_free = [](const std::string& name, const Json&) { return !name.starts_with(mcp::kMetaPrefix); };
    Json free = meta->is_object() ? members_where(std::move(*meta), is_free) : Json::object();
    result.erase("_meta");
    if (!free.empty()) result["_meta"] = std::move(free);
  }
  for_each_in(result, "content", [&upstream](Json& block) { serve_uris_of_block(upstream, block); });
  for_each_in(result, "contents", [&upstream](Json& each) { serve_uri(upstream, each); });
  for_each_in(result, "messages", [&upstream](Json& each) {
    if (each.contains("content")) serve_uris_of_block(upstream, each["content"]);
  });
  return result;
}

}  // namespace rkllm_mcp
