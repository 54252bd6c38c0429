#include "chat/turn/answer.hpp"

namespace rkllm_mcp::chat {

void Speed::renew(const Speed& later) {
  if (later.tokens_per_second) tokens_per_second = later.tokens_per_second;
  if (later.prefill_tokens_per_second) prefill_tokens_per_second = later.prefill_tokens_per_second;
  if (later.first_token_ms) first_token_ms = later.first_token_ms;
}

Speed speed_of(const AnswerEnd& end) {
  const auto per_second = [](std::int64_t tokens, const std::optional<double>& ms) -> std::optional<double> {
    constexpr double kMsOfSecond = 1000;
    if (!ms || !(*ms > 0)) return std::nullopt;
    return static_cast<double>(tokens) * kMsOfSecond / *ms;
  };
  Speed speed;
  speed.first_token_ms = end.timings.first_token_ms;
  if (end.timings.timed_tokens.value_or(0) > 0) {
    speed.tokens_per_second = per_second(*end.timings.timed_tokens, end.timings.generate_ms);
  }
  if (end.usage.prompt && end.usage.cached) {
    speed.prefill_tokens_per_second = per_second(*end.usage.prompt - *end.usage.cached, end.timings.prefill_ms);
  }
  return speed;
}

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
