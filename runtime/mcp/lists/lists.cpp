#include "mcp/lists/lists.hpp"

#include "call/permission.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace rkllm_mcp::mcp {
namespace {

// A member that is left out if it says nothing.
void add_text(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

// Members that are known by name go first.
void add_more(Json& entry, const Json& more) {
  for (const auto& [name, value] : more.items()) {
    if (!entry.contains(name)) entry[name] = value;
  }
}

Json described(const char* key, const std::string& identity, const std::string& name, const std::string& title,
               const std::string& description) {
  Json entry{{key, identity}};
  if (std::string_view(key) != "name") entry["name"] = name;
  add_text(entry, "title", title);
  add_text(entry, "description", description);
  return entry;
}

Json entry_for(const Tool& tool) {
  Json entry = described("name", tool.name, tool.name, tool.title, tool.description);
  entry["inputSchema"] = tool.input_schema;
  if (!tool.output_schema.is_null()) entry["outputSchema"] = tool.output_schema;
  if (const auto& hints = tool.annotations) {
    Json annotations = Json::object();
    add_text(annotations, "title", tool.title);
    annotations.update(Json{{"readOnlyHint", hints->read_only},
                            {"destructiveHint", hints->destructive},
                            {"idempotentHint", hints->idempotent},
                            {"openWorldHint", hints->open_world}});
    entry["annotations"] = std::move(annotations);
  }
  add_more(entry, tool.more);
  return entry;
}

// Schemas are long, and lists are asked for often: the text is made once.
Json listed(const Tool& tool) {
  const std::string& text = tool.entry.get([&tool] { return to_text(entry_for(tool)); });
  return unread_line({text.begin(), text.end()});
}

Json listed(const Resource& resource) {
  Json entry = described("uri", resource.uri, resource.name, resource.title, resource.description);
  add_text(entry, "mimeType", resource.mime_type);
  if (resource.size) entry["size"] = *resource.size;
  add_more(entry, resource.more);
  return entry;
}

Json listed(const ResourceTemplate& each) {
  Json entry = described("uriTemplate", each.uri_template, each.name, each.title, each.description);
  add_text(entry, "mimeType", each.mime_type);
  add_more(entry, each.more);
  return entry;
}

Json listed(const Prompt& prompt) {
  Json entry = described("name", prompt.name, prompt.name, prompt.title, prompt.description);
  Json arguments = Json::array();
  for (const auto& argument : prompt.arguments) {
    Json each = described("name", argument.name, argument.name, argument.title, argument.description);
    each["required"] = argument.required;
    arguments.push_back(std::move(each));
  }
  if (!arguments.empty()) entry["arguments"] = std::move(arguments);
  add_more(entry, prompt.more);
  return entry;
}

const Resource& entry_of(const Resource& each) { return each; }
const ResourceTemplate& entry_of(const ResourceTemplate& each) { return each; }
template <class Entry>
const Entry& entry_of(const Immutable<Entry>& each) {
  return *each;
}

template <class Entry>
bool is_listed(const Entry& /*entry*/) {
  return true;
}
bool is_listed(const Tool& tool) { return tool.listed; }

template <class Entry>
Json list(std::string_view name, const std::vector<Entry>& entries, const Session& session, const Json& params,
          const PageLimits& limits) {
  std::vector<const Entry*> shown;
  for (const Entry& each : entries) {
    if (is_listed(entry_of(each)) && is_permitted(session, entry_of(each).permission)) shown.push_back(&each);
  }
  return page_of(
      name, params, shown.size(), [&shown](std::size_t at) { return listed(entry_of(*shown[at])); }, limits);
}

constexpr std::string_view kCursorPrefix = "from-";

std::size_t start_of(const Json& params, std::size_t count) {
  if (!params.is_object() || !params.contains("cursor")) return 0;
  const Json& cursor = params["cursor"];
  if (cursor.is_null()) return 0;
  if (!cursor.is_string()) throw InvalidParams("params.cursor", "expected string");
  const std::string text = cursor.get<std::string>();
  std::size_t start = 0;
  if (text.starts_with(kCursorPrefix)) {
    const char* const begin = text.data() + kCursorPrefix.size();
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(begin, end, start);
    if (error == std::errc() && stopped == end && start > 0 && start < count) return start;
  }
  throw InvalidParams("params.cursor", "not a cursor of this list");
}

}  // namespace

Json list_tools(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits) {
  return list("tools", catalogue.tools, session, params, limits);
}

Json list_resources(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits) {
  return list("resources", catalogue.resources, session, params, limits);
}

Json list_resource_templates(const Catalogue& catalogue, const Session& session, const Json& params,
                             const PageLimits& limits) {
  return list("resourceTemplates", catalogue.templates, session, params, limits);
}

Json list_prompts(const Catalogue& catalogue, const Session& session, const Json& params, const PageLimits& limits) {
  return list("prompts", catalogue.prompts, session, params, limits);
}

Json page_of(std::string_view name, const Json& params, std::size_t count,
             const std::function<Json(std::size_t)>& entry, const PageLimits& limits) {
  Json items = Json::array();
  std::size_t next = start_of(params, count);
  for (std::size_t bytes = 0; next < count && items.size() < limits.items; ++next) {
    Json item = entry(next);
    const std::string_view written = unread_text(item);
    bytes += (written.empty() ? to_text(item).size() : written.size()) + 1;
    if (!items.empty() && bytes > limits.bytes) break;
    items.push_back(std::move(item));
  }
  Json page{{std::string(name), std::move(items)}};
  if (next < count) page["nextCursor"] = std::string(kCursorPrefix) + std::to_string(next);
  return page;
}

namespace {

constexpr std::size_t kMostValues = 100;

const Json& object_in(const Json& object, const char* name, const char* path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_object()) throw InvalidParams(path, "expected object");
  return *found;
}

std::string string_in(const Json& object, const char* name, const char* path) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) throw InvalidParams(path, "expected string");
  return found->get<std::string>();
}

// The function that knows the values; null if nobody does.
CompleteFunction completer_of(const Catalogue& catalogue, const Session& session, const Json& ref,
                              const std::string& argument) {
  const std::string type = string_in(ref, "type", "params.ref.type");
  if (type == "ref/prompt") {
    const auto* const prompt = catalogue.prompt(string_in(ref, "name", "params.ref.name"));
    if (prompt == nullptr || !is_permitted(session, (*prompt)->permission)) return {};
    for (const auto& each : (*prompt)->arguments) {
      if (each.name == argument) return each.complete;
    }
    return {};
  }
  if (type != "ref/resource") throw InvalidParams("params.ref.type", "expected \"ref/prompt\" or \"ref/resource\"");
  const std::string uri = string_in(ref, "uri", "params.ref.uri");
  for (const auto& each : catalogue.templates) {
    if (each.uri_template != uri || !is_permitted(session, each.permission)) continue;
    for (const auto& [name, complete] : each.variables) {
      if (name == argument) return complete;
    }
  }
  return {};
}

Json known_arguments(const Json& params) {
  const auto context = params.find("context");
  if (context == params.end() || !context->is_object()) return Json::object();
  const auto arguments = context->find("arguments");
  return arguments != context->end() && arguments->is_object() ? *arguments : Json::object();
}

}  // namespace

Json complete(const Catalogue& catalogue, const Session& session, const Json& params) {
  const Json& argument = object_in(params, "argument", "params.argument");
  const std::string name = string_in(argument, "name", "params.argument.name");
  const std::string so_far = string_in(argument, "value", "params.argument.value");
  const auto completer = completer_of(catalogue, session, object_in(params, "ref", "params.ref"), name);

  Json values = Json::array();
  std::size_t total = 0;
  if (completer) {
    for (const auto& value : completer(so_far, known_arguments(params))) {
      if (!std::string_view(value).starts_with(so_far)) continue;
      if (total++ < kMostValues) values.push_back(value);
    }
  }
  return Json{{"completion", {{"values", std::move(values)}, {"total", total}, {"hasMore", total > kMostValues}}}};
}

}  // namespace rkllm_mcp::mcp
