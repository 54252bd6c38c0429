#include "upstreams/upstream_tool.hpp"

#include "json_members.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"
#include "text/shown.hpp"
#include "text/utf8.hpp"
#include "upstreams/upstream_document.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestLogged = 200;
constexpr std::size_t kLargestTool = std::size_t{256} << 10U;  // bytes, as JSON

bool is_object_schema(const Json& schema) {
  if (!schema.is_object()) return false;
  const auto type = schema.find("type");
  return type != schema.end() && *type == "object";
}

bool is_text_if_present(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_string();
}

// Why it cannot be served; empty if it can.
std::string fault_of(const std::string& upstream, const Json& tool) {
  if (!tool.contains("inputSchema") || !is_object_schema(tool["inputSchema"])) return "its inputSchema is of no object";
  if (tool.contains("outputSchema") && !is_object_schema(tool["outputSchema"]))
    return "its outputSchema is of no object";
  if (!is_text_if_present(tool, "title")) return "its title is no string";
  if (!is_text_if_present(tool, "description")) return "its description is no string";
  if (tool.contains("annotations") && !tool["annotations"].is_object()) return "its annotations are no object";
  if (!is_tool_name(served_name(upstream, text_in(tool, "name")))) return "hosts refuse such a name";
  if (tool.dump().size() > kLargestTool) return "it is longer than 256 KiB";
  return {};
}

std::optional<ToolAnnotations> annotations_of(const Json& tool) {
  const auto found = tool.find("annotations");
  if (found == tool.end()) return std::nullopt;
  const auto hint = [&found](const char* name, bool absent) {
    const auto value = found->find(name);
    return value != found->end() && value->is_boolean() ? value->get<bool>() : absent;
  };
  return ToolAnnotations{hint("readOnlyHint", false), hint("destructiveHint", true), hint("idempotentHint", false),
                         hint("openWorldHint", true)};
}

// Before `title` existed it was an annotation.
std::string title_of(const Json& tool) {
  const auto annotations = tool.find("annotations");
  std::string title = text_in(tool, "title");
  return title.empty() && annotations != tool.end() ? text_in(*annotations, "title") : title;
}

}  // namespace

std::string for_the_log(const std::string& text) { return in_one_line(beginning_of(text, kLongestLogged)); }

bool is_tool_name(const std::string& name) {
  constexpr const char* kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name.size() <= kLongestName && name.find_first_not_of(kAllowed) == std::string::npos;
}

std::string served_name(const std::string& upstream, const std::string& tool) {
  return tool.find('.') == std::string::npos ? upstream + "_" + tool : marked_name(upstream, tool);
}

std::string marked_name(const std::string& upstream, const std::string& tool) {
  constexpr std::size_t kMarkBytes = 4;
  std::string name = upstream + "_" + tool;
  std::ranges::replace(name, '.', '_');
  const Sha256 hash = sha256(upstream + '\0' + tool);
  const std::string mark = "_" + in_hexadecimal(std::span(hash).first(kMarkBytes));
  name.resize(std::min(name.size(), kLongestName - mark.size()));
  return name + mark;
}

// kitchen_x_y may be y of the upstream kitchen_x, or x_y of the upstream kitchen. The longer prefix wins, also while
// its upstream is not connected.
bool ServedNames::could_be_anothers(const std::string& upstream, const std::string& plain) const {
  return std::ranges::any_of(upstreams_, [&](const std::string& other) {
    return other.size() > upstream.size() && plain.starts_with(other + "_");
  });
}

std::optional<std::string> ServedNames::take(const std::string& upstream, const std::string& there) {
  std::string name = served_name(upstream, there);
  if (could_be_anothers(upstream, name) || taken_.contains(name)) name = marked_name(upstream, there);
  if (!taken_.insert(name).second) return std::nullopt;
  return name;
}

SortedTools sort_tools(const std::string& upstream, std::vector<Json> listed, const ToolFilter& filter) {
  // A server that is its own upstream lists what it has from itself, too: that would go on for ever.
  std::set<std::string> echoes;
  for (const Json& tool : listed) {
    if (!tool.is_object()) continue;
    const std::string name = text_in(tool, "name");
    echoes.insert(served_name(upstream, name));
    echoes.insert(marked_name(upstream, name));
  }
  SortedTools sorted;
  std::set<std::string> names;
  for (Json& tool : listed) {
    const std::string name = tool.is_object() ? text_in(tool, "name") : std::string();
    if (name.empty()) {
      sorted.left_out.emplace_back("one without a name");
      continue;
    }
    if (!filter.passes(name)) continue;  // as the settings want it: nothing to be told of
    std::string fault = echoes.contains(name) ? "it is another one's echo" : fault_of(upstream, tool);
    if (fault.empty() && !names.insert(name).second) fault = "the name is taken";
    if (fault.empty()) {
      sorted.served.push_back(std::move(tool));
    } else {
      sorted.left_out.push_back(for_the_log(name) + ": " + fault);
    }
  }
  return sorted;
}

mcp::Tool served_tool(const std::string& upstream, const Json& tool) {
  mcp::Tool served;
  served.name = served_name(upstream, text_in(tool, "name"));
  served.title = title_of(tool);
  if (!served.title.empty()) served.title += " (" + upstream + ")";
  served.description = text_in(tool, "description");
  served.input_schema = tool["inputSchema"];
  if (tool.contains("outputSchema")) served.output_schema = tool["outputSchema"];
  served.annotations = annotations_of(tool);
  served.more = passed_on(tool);  // its annotations have been read: they stay ours
  return served;
}

bool has_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string();
}

namespace {

bool texts_are_texts(const Json& object, std::initializer_list<const char*> names) {
  return std::ranges::all_of(names,
                             [&object](const char* name) { return !object.contains(name) || has_text(object, name); });
}

bool is_block(const Json& block) {
  if (!block.is_object() || !has_text(block, "type")) return false;
  if (!texts_are_texts(block, {"text", "uri", "mimeType", "data", "name", "title", "description"})) return false;
  const Json& type = block["type"];
  if (type == "text") return block.contains("text");
  if (type == "image" || type == "audio") return block.contains("data") && block.contains("mimeType");
  if (type == "resource_link") return block.contains("uri");
  if (type != "resource") return true;
  const auto resource = block.find("resource");
  return resource != block.end() && resource->is_object() && has_text(*resource, "uri") &&
         texts_are_texts(*resource, {"text", "blob", "mimeType"});
}

}  // namespace

bool is_tool_result(const Json& result) {
  if (!result.is_object()) return false;
  const auto content = result.find("content");
  if (content == result.end() || !content->is_array() || !std::ranges::all_of(*content, is_block)) return false;
  const auto is_absent_or = [&result](const char* name, auto is_right) {
    const auto found = result.find(name);
    return found == result.end() || is_right(*found);
  };
  return is_absent_or("structuredContent", [](const Json& value) { return value.is_object(); }) &&
         is_absent_or("_meta", [](const Json& value) { return value.is_object(); }) &&
         is_absent_or("isError", [](const Json& value) { return value.is_boolean(); }) &&
         is_absent_or("resultType", [](const Json& value) { return value == "complete"; });
}

ErrorCode passed_on_code(int code) {
  constexpr std::array kJsonRpcs{ErrorCode::kParseError, ErrorCode::kInvalidRequest, ErrorCode::kMethodNotFound,
                                 ErrorCode::kInvalidParams, ErrorCode::kInternalError};
  const auto same = static_cast<ErrorCode>(code);
  if (std::ranges::find(kJsonRpcs, same) != kJsonRpcs.end()) return same;
  return same >= ErrorCode::kCallFailed && same <= ErrorCode::kCancelled ? same : ErrorCode::kInternalError;
}

}  // namespace rkllm_mcp
