#include "chat/turn/turn.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {

ChatMessage text_message(Role role, std::string text) {
  ChatMessage message;
  message.role = role;
  message.parts.emplace_back(TextPart{std::move(text)});
  return message;
}

std::string text_of(const ChatMessage& message) {
  std::string text;
  for (const Part& part : message.parts) {
    const auto* const written = std::get_if<TextPart>(&part);
    if (written != nullptr) text += (text.empty() ? "" : "\n") + written->text;
  }
  return text;
}

std::string text_of_role(const Turn& turn, Role role) {
  std::string text;
  for (const ChatMessage& each : turn.messages) {
    if (each.role == role) text += (text.empty() ? "" : "\n\n") + text_of(each);
  }
  return text;
}

bool is_name_of_task(std::string_view name) { return name.ends_with("_generation") || name == "function_calling"; }

bool is_prompt_of_task(const Turn& turn) {
  const auto is_of = [](Role role) { return [role](const ChatMessage& each) { return each.role == role; }; };
  if (std::ranges::count_if(turn.messages, is_of(Role::kUser)) != 1 ||
      std::ranges::any_of(turn.messages, is_of(Role::kAssistant))) {
    return false;
  }
  const std::string text = text_of(*std::ranges::find_if(turn.messages, is_of(Role::kUser)));
  const std::size_t history = text.find("<chat_history>");
  return text.starts_with("### Task:") && history != std::string::npos &&
         text.find("</chat_history>", history) != std::string::npos;
}

bool has_image(const ChatMessage& message) {
  return std::ranges::any_of(message.parts, [](const Part& part) { return std::holds_alternative<ImagePart>(part); });
}

Sampling with_wishes(Sampling preset, const SamplingWish& wish) {
  return {.top_k = wish.top_k.value_or(preset.top_k),
          .top_p = wish.top_p.value_or(preset.top_p),
          .temperature = wish.temperature.value_or(preset.temperature),
          .repeat_penalty = wish.repeat_penalty.value_or(preset.repeat_penalty),
          .frequency_penalty = wish.frequency_penalty.value_or(preset.frequency_penalty),
          .presence_penalty = wish.presence_penalty.value_or(preset.presence_penalty),
          .mirostat = wish.mirostat.value_or(preset.mirostat),
          .mirostat_tau = wish.mirostat_tau.value_or(preset.mirostat_tau),
          .mirostat_eta = wish.mirostat_eta.value_or(preset.mirostat_eta)};
}

}  // namespace rkllm_mcp::chat
