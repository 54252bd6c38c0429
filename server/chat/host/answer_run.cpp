#include "chat/host/answer_run.hpp"

#include "faults.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {

AnswerRun::AnswerRun(const Family& family, const Turn& turn, const Prompt& prompt, const JsonSchema* schema,
                     std::function<std::string()> next_id, SpecialTokens special_tokens)
    : reader_(family, turn, prompt, std::move(next_id), special_tokens) {
  if (!prompt.forced.empty()) {
    required_.emplace(turn);
  } else if (schema != nullptr) {
    structured_.emplace(*schema);
  }
}

std::vector<AnswerEvent> AnswerRun::take(std::string_view bytes) {
  if (is_over()) return {};
  ++generated_;
  const bool thinks = reader_.in_thinking();
  auto events = reader_.feed(bytes);
  if (thinks) ++reasoning_;
  if (required_) return required_->take(std::move(events));
  return structured_ ? sorted(std::move(events)) : std::move(events);
}

std::vector<AnswerEvent> AnswerRun::sorted(std::vector<AnswerEvent> events) {
  for (AnswerEvent& event : events) {
    if (const auto* text = std::get_if<TextDelta>(&event)) {
      is_hopeless_ = !structured_->feed(text->text) || is_hopeless_;
    } else {
      has_calls_ = has_calls_ || std::holds_alternative<ToolCall>(event);
      held_.push_back(std::move(event));
    }
  }
  return {};
}

AnswerRun::Outcome AnswerRun::finish(bool hit_limit) {
  Outcome outcome;
  outcome.events = reader_.finish();
  outcome.finish = reader_.finish_reason(hit_limit);
  if (required_) {
    outcome.events = required_->take(std::move(outcome.events));
    outcome.complaint = required_->complaint();
    return outcome;
  }
  if (!structured_) return outcome;
  sorted(std::exchange(outcome.events, {}));
  if (!has_calls_) {  // calls are what was wanted first; the JSON comes with their results
    outcome.complaint = structured_->finish();
    if (has_fault("an answer that does not fit its schema is taken for one")) outcome.complaint.reset();
    if (outcome.complaint) return outcome;
    held_.emplace_back(TextDelta{structured_->json()});
    if (outcome.finish == Finish::kLength) outcome.finish = Finish::kStop;  // the JSON is whole
  }
  outcome.events = std::exchange(held_, {});
  return outcome;
}

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
      complaint_ = is_wrong_call ? "it calls " + to_text(Json(shortened(call->name))) + ", which was not asked for"
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
  return std::ranges::find(turn_.tools, tool, &FunctionTool::name) != turn_.tools.end();
}

}  // namespace rkllm_mcp::chat
