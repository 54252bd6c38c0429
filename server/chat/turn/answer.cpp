#include "chat/turn/answer.hpp"

namespace rkllm_mcp::chat {

void append(Answer& answer, const AnswerEvent& event) {
  if (const auto* thought = std::get_if<ThinkingDelta>(&event)) {
    answer.thinking += thought->text;
  } else if (const auto* text = std::get_if<TextDelta>(&event)) {
    answer.text += text->text;
  } else {
    answer.calls.push_back(std::get<ToolCall>(event));
  }
}

}  // namespace rkllm_mcp::chat
