#include "model/chat_template.hpp"

#include <utility>

namespace rkllm_mcp::sim {
namespace {

constexpr int kDeepest = 64;

constexpr std::string_view kEmptyThought = "<think>\n\n</think>\n\n";

// Discarded if it is no JSON, or nested so deeply that writing it out would need too much stack.
Json parse_shallow(std::string_view text) {
  bool deep = false;
  Json parsed = Json::parse(
      text,
      [&deep](int depth, Json::parse_event_t, Json&) {
        deep = deep || depth > kDeepest;
        return !deep;
      },
      false);
  return deep ? Json(Json::value_t::discarded) : parsed;
}

std::string block(std::string_view role, std::string_view text) {
  return "<|im_start|>" + std::string(role) + "\n" + std::string(text) + "<|im_end|>\n";
}

}  // namespace

void ChatTemplate::replace(std::string system, std::string prefix, std::string postfix) {
  replaced_ = true;
  system_ = std::move(system);
  prefix_ = std::move(prefix);
  postfix_ = std::move(postfix);
  tools_ = Json::array();
}

bool ChatTemplate::set_tools(std::string system, std::string_view tools, std::string tag) {
  Json parsed = parse_shallow(tools);
  if (parsed.is_object()) parsed = Json::array({std::move(parsed)});
  if (!parsed.is_array() || tag.empty() || (!built_in_ && !replaced_)) return false;
  tag_ = std::move(tag);
  if (replaced_) return true;  // accepted, but a replaced template has no place for tools
  system_ = std::move(system);
  tools_ = std::move(parsed);
  return true;
}

RenderedTurn ChatTemplate::render(std::string_view prompt, bool enable_thinking, bool first) const {
  RenderedTurn turn;
  if (replaced_) {
    if (first) turn.system = system_;
    turn.rest = prefix_ + std::string(prompt) + postfix_;
    return turn;
  }
  if (!built_in_) {
    turn.rest = prompt;
    return turn;
  }
  if (!tools_.empty() && first) {
    std::string text = system_ + "\n\nCall a function by writing <tool_call> and JSON.\n<tools>\n";
    for (const Json& tool : tools_) text += tool.dump() + "\n";
    turn.system = block("system", text + "</tools>");
  } else if (!system_.empty() && first) {
    turn.system = block("system", system_);
  } else if (!default_system_.empty()) {
    turn.rest = block("system", default_system_);  // part of the model's template: repeated each turn, never kept
  }
  turn.rest += block("user", prompt) + "<|im_start|>assistant\n";
  if (thinks_ && !enable_thinking) turn.rest += kEmptyThought;
  return turn;
}

// If the prompt ends with an empty thought, the model does not think: the answer follows, whoever has written that.
bool ChatTemplate::thinks(bool enable_thinking, std::string_view rendered) const {
  return thinks_ && (enable_thinking || replaced_) && !rendered.ends_with(kEmptyThought);
}

std::optional<std::string> ChatTemplate::tool_results(std::string_view results) const {
  const Json parsed = parse_shallow(results);
  if (!parsed.is_array()) return std::nullopt;
  std::string text;
  for (const Json& result : parsed) {
    if (!text.empty()) text += '\n';
    text += "<" + tag_ + ">\n" + result.dump() + "\n</" + tag_ + ">";
  }
  return text;
}

}  // namespace rkllm_mcp::sim
