#include "chat/turn/context.hpp"

#include <algorithm>

namespace rkllm_mcp::chat {
namespace {

std::optional<std::int64_t> sum_of(std::optional<std::int64_t> left, std::optional<std::int64_t> right) {
  if (!left || !right) return std::nullopt;
  return *left + *right;
}

bool is_user(const ChatMessage& message) { return message.role == Role::kUser; }

std::size_t bytes_of(const ChatMessage& message) {
  std::size_t bytes = 0;
  for (const Part& part : message.parts) {
    if (const auto* const text = std::get_if<TextPart>(&part)) bytes += text->text.size();
  }
  for (const ToolCall& call : message.calls) bytes += call.name.size() + call.arguments.size();
  return bytes + message.tool_name.size();
}

// At most those of its text, without writing it.
std::size_t bytes_of(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().size();
  std::size_t bytes = 1;
  if (!value.is_structured()) return bytes;
  for (auto each = value.begin(); each != value.end(); ++each) {
    bytes += 1 + bytes_of(*each) + (value.is_object() ? each.key().size() : 0);
  }
  return bytes;
}

}  // namespace

std::int64_t context_tokens(std::int64_t max_context_len) {
  constexpr std::int64_t kStep = 32;
  return (std::max<std::int64_t>(max_context_len, 0) + kStep - 1) / kStep * kStep;
}

std::int64_t most_prompt_tokens(std::size_t prompt_bytes) { return static_cast<std::int64_t>(prompt_bytes) + 1; }

ContextPlan plan_run(std::int64_t context, const PromptLength& prompt, std::optional<std::int64_t> max_tokens) {
  if (prompt.tokens) {
    const std::int64_t room = context - *prompt.tokens;
    if (room < 1) return TooLong{};
    return RunWithLimit{std::min(room, max_tokens.value_or(room))};
  }
  // Compared without a sum, which could overflow.
  const std::int64_t certain_room = context - most_prompt_tokens(prompt.bytes);
  if (max_tokens && *max_tokens <= certain_room) return RunWithLimit{*max_tokens};
  return CountFirst{};
}

std::optional<std::int64_t> prompt_tokens_after(std::int64_t kv_size, std::int64_t generated) {
  const std::int64_t prompt = kv_size - generated + 1;
  if (generated < 1 || prompt < 1) return std::nullopt;
  return prompt;
}

std::optional<std::int64_t> cached_tokens(std::optional<std::int64_t> prompt, std::optional<std::int64_t> prefilled) {
  if (!prompt || !prefilled) return std::nullopt;
  // The last token of a prompt is always computed; the runtime then counts it as generated and says 0.
  return std::max<std::int64_t>(0, *prompt - std::max<std::int64_t>(*prefilled, 1));
}

Usage usage_of(const RunFigures& figures) {
  Usage usage;
  usage.generated = figures.generated;
  usage.reasoning = figures.reasoning;
  if (figures.kv_size) usage.prompt = prompt_tokens_after(*figures.kv_size, figures.generated);
  usage.cached = cached_tokens(usage.prompt, figures.prefilled);
  return usage;
}

Usage sum_of_answers(const std::vector<Usage>& answers) {
  if (answers.empty()) return {};
  Usage sum = answers.front();
  for (std::size_t i = 1; i < answers.size(); ++i) {
    sum.generated = sum_of(sum.generated, answers[i].generated);
    sum.reasoning = sum_of(sum.reasoning, answers[i].reasoning);
  }
  return sum;
}

Usage sum_of_runs(const Usage& one, const Usage& other) {
  return {sum_of(one.prompt, other.prompt), sum_of(one.cached, other.cached), sum_of(one.generated, other.generated),
          sum_of(one.reasoning, other.reasoning)};
}

Timings sum_of_runs(const Timings& one, const Timings& other) {
  const auto sum = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  };
  return {one.load_ms,
          one.first_token_ms,
          sum(one.prefill_ms, other.prefill_ms),
          sum(one.generate_ms, other.generate_ms),
          sum_of(one.timed_tokens, other.timed_tokens),
          sum(one.total_ms, other.total_ms)};
}

std::size_t bytes_of(const std::vector<ChatMessage>& messages) {
  std::size_t bytes = 0;
  for (const ChatMessage& each : messages) bytes += bytes_of(each);
  const auto behind_user = std::find_if(messages.rbegin(), messages.rend(), is_user);
  for (auto each = messages.rbegin(); each != behind_user; ++each) bytes += each->thinking.size();
  return bytes;
}

std::size_t bytes_of(const Turn& turn) {
  std::size_t bytes = turn.format.kind == OutputKind::kJsonSchema ? bytes_of(turn.format.schema) : 0;
  if (turn.raw_prompt) return bytes + turn.raw_prompt->size();
  bytes += bytes_of(turn.messages);
  if (turn.tool_choice.use == ToolUse::kNone) return bytes;
  for (const FunctionTool& tool : turn.tools)
    bytes += tool.name.size() + tool.description.size() + bytes_of(tool.parameters);
  return bytes;
}

std::size_t drop_oldest_turns(std::vector<ChatMessage>& messages, std::size_t bytes, std::size_t bytes_around) {
  const auto is_said = [](const ChatMessage& message) { return message.role != Role::kSystem; };
  const auto oldest = std::ranges::find_if(messages, is_said);
  auto end = oldest;
  for (std::size_t taken = 0; end != messages.end() && (end == oldest || taken < bytes);) {
    const auto next = std::find_if(end + 1, messages.end(), is_user);
    if (next == messages.end()) break;
    for (; end != next; ++end) taken += is_said(*end) ? bytes_of(*end) + bytes_around : 0;
  }
  // System messages between turns say something about what follows as well.
  const auto kept = std::stable_partition(oldest, end, is_said);
  const auto taken = static_cast<std::size_t>(kept - oldest);
  messages.erase(oldest, kept);
  return taken;
}

}  // namespace rkllm_mcp::chat
