#include "chat/answer/call_text.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"
#include "text/ascii.hpp"

namespace rkllm_mcp::chat {
namespace {

// The arguments as an object in one line.
std::optional<std::string> arguments_text(const Json& arguments) {
  if (arguments.is_object()) return to_text(arguments);
  if (arguments.is_null()) return "{}";
  if (!arguments.is_string()) return std::nullopt;
  const auto inside = parse_bounded(arguments.get_ref<const std::string&>());
  if (!inside || !inside->is_object()) return std::nullopt;
  return to_text(*inside);
}

std::optional<WrittenCall> call_of(const Json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto name = object.find("name");
  if (name == object.end() || !name->is_string() || name->get_ref<const std::string&>().empty()) return std::nullopt;
  Json arguments = nullptr;
  for (const auto* key : {"arguments", "parameters"}) {
    if (const auto found = object.find(key); found != object.end()) arguments = *found;
  }
  auto text = arguments_text(arguments);
  if (!text) return std::nullopt;
  return WrittenCall{name->get<std::string>(), std::move(*text)};
}

std::optional<std::vector<WrittenCall>> calls_of(const Json& value) {
  std::vector<WrittenCall> calls;
  const Json array = value.is_array() ? value : Json::array({value});
  for (const Json& each : array) {
    auto call = call_of(each);
    if (!call) return std::nullopt;
    calls.push_back(std::move(*call));
  }
  if (calls.empty()) return std::nullopt;
  return calls;
}

// "function", separator, the name, a line end, "```json", arguments, "```".
std::optional<std::vector<WrittenCall>> named_call(const ToolForm& form, std::string_view text) {
  const auto separator = text.find(form.separator);
  if (separator == std::string_view::npos) return std::nullopt;
  text.remove_prefix(separator + form.separator.size());
  const auto line_end = text.find('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  const auto name = without_space_around(text.substr(0, line_end));
  auto arguments = without_space_around(text.substr(line_end));
  constexpr std::string_view kFence = "```";
  if (arguments.starts_with(kFence)) {
    arguments.remove_prefix(kFence.size());
    if (arguments.starts_with("json")) arguments.remove_prefix(4);
    if (arguments.ends_with(kFence)) arguments.remove_suffix(kFence.size());
  }
  const auto parsed = parse_bounded(arguments);
  if (name.empty() || !parsed || !parsed->is_object()) return std::nullopt;
  return std::vector<WrittenCall>{{std::string(name), to_text(*parsed)}};
}

}  // namespace

std::optional<std::vector<WrittenCall>> read_calls(const ToolForm& form, std::string_view text) {
  if (form.syntax == CallSyntax::kNamed) return named_call(form, text);
  const auto parsed = parse_bounded(text);
  if (!parsed) return std::nullopt;
  return calls_of(*parsed);
}

}  // namespace rkllm_mcp::chat
