#include "chat/host/required_call.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kNoCall = "it is no call of a tool";

}  // namespace

std::vector<AnswerEvent> RequiredCall::take(std::vector<AnswerEvent> events) {
  std::vector<AnswerEvent> ready;
  for (AnswerEvent& event : events) {
    if (has_failed()) break;
    const auto* const call = std::get_if<ToolCall>(&event);
    const bool is_wrong_call = call != nullptr && !is_asked_for(call->name);
    has_called_ = has_called_ || (call != nullptr && !is_wrong_call);
    if (!has_called_) {
      complaint_ = is_wrong_call ? "it calls " + Json(shortened(call->name)).dump() + ", which was not asked for"
                                 : std::string(kNoCall);
    } else if (!is_wrong_call) {
      ready.push_back(std::move(event));
    }
  }
  return ready;
}

std::optional<std::string> RequiredCall::complaint() const {
  if (complaint_ || has_called_) return complaint_;
  return std::string(kNoCall);
}

bool RequiredCall::is_asked_for(std::string_view tool) const {
  if (turn_.tool_choice.use == ToolUse::kNamed) return tool == turn_.tool_choice.name;
  return std::ranges::find(turn_.tools, tool, &Tool::name) != turn_.tools.end();
}

}  // namespace rkllm_mcp::chat
