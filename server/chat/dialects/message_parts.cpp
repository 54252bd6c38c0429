#include "chat/dialects/message_parts.hpp"

#include "chat/dialects/field_table.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <map>
#include <utility>

namespace rkllm_mcp::chat {

const Json& parts_of(const JsonReader& content) {
  if (!content.json().is_array()) content.wrong_type("string or array of parts");
  return content.json();
}

ImagePart image_of_address(const JsonReader& address) {
  const std::string_view text = address.text();
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kEncoding = ";base64";
  const auto comma = text.find(',');
  if (!text.starts_with(kScheme) || comma == std::string_view::npos) {
    address.refuse("expected a data: address; this server fetches no pictures");
  }
  const auto type = text.substr(kScheme.size(), comma - kScheme.size());
  if (!type.ends_with(kEncoding)) address.refuse("expected base64 in the data: address");
  return {std::string(type.substr(0, type.size() - kEncoding.size())), std::string(text.substr(comma + 1))};
}

std::vector<std::string> read_stops(const JsonReader& value, std::size_t most) {
  std::vector<std::string> stops;
  const auto add = [&stops](const JsonReader& each) {
    if (each.text().empty()) each.refuse("expected a string that is not empty");
    stops.push_back(each.text());
  };
  if (value.json().is_string()) {
    if (!value.text().empty()) add(value);  // some clients send "" for none
    return stops;
  }
  if (value.array().size() > most) value.refuse("expected at most " + std::to_string(most) + " strings");
  for (std::size_t i = 0; i < value.array().size(); ++i) add(value.element(i));
  return stops;
}

std::string read_arguments(const JsonReader& value) {
  if (value.json().is_object()) return to_text(value.json());
  const std::string& text = value.text();
  if (text.empty()) return "{}";
  // A call that broke off is part of what was said all the same.
  const auto parsed = parse_bounded(text);
  return parsed && parsed->is_object() ? to_text(*parsed) : text;
}

void read_tool_calls(const JsonReader& calls, ChatMessage& message) {
  for (std::size_t i = 0; i < calls.array().size(); ++i) {
    const JsonReader call = calls.element(i);
    call.object();
    const auto function = required_member(call, "function");
    function->object();
    const auto name = required_member(*function, "name");
    ToolCall read{.id = "", .name = name->text(), .arguments = "{}"};
    if (const auto id = call.find("id")) read.id = id->text();
    if (const auto arguments = function->find("arguments")) read.arguments = read_arguments(*arguments);
    message.calls.push_back(std::move(read));
  }
}

void name_tool_results(std::vector<ChatMessage>& messages) {
  std::map<std::string, std::string> names;
  for (ChatMessage& message : messages) {
    for (const ToolCall& call : message.calls) names[call.id] = call.name;
    const auto known = names.find(message.call_id);
    if (message.role == Role::kTool && message.tool_name.empty() && known != names.end()) {
      message.tool_name = known->second;
    }
  }
}

}  // namespace rkllm_mcp::chat
