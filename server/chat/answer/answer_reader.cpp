#include "chat/answer/answer_reader.hpp"

#include <utility>

namespace rkllm_mcp::chat {
namespace {

SplitRules split_rules(const Turn& turn, const Prompt& prompt, SpecialTokens special_tokens) {
  SplitRules rules;
  rules.special_tokens = special_tokens;
  rules.calls = !turn.tools.empty() && turn.tool_choice.use != ToolUse::kNone;
  rules.begins_in_thinking = prompt.in_thinking;
  if (!turn.parallel_calls) rules.most_calls = 1;
  return rules;
}

}  // namespace

AnswerReader::AnswerReader(const Family& family, const Turn& turn, const Prompt& prompt,
                           std::function<std::string()> next_id, SpecialTokens special_tokens)
    : splitter_(family, split_rules(turn, prompt, special_tokens), std::move(next_id)), stops_(turn.stop) {
  // A beginning that was forced is no call yet, so that nothing comes of it here.
  std::vector<AnswerEvent> none;
  splitter_.feed(prompt.forced, none);
}

std::vector<AnswerEvent> AnswerReader::feed(std::string_view bytes) {
  if (is_over_) return {};
  std::vector<AnswerEvent> events;
  splitter_.feed(bytes, events);
  return until_stop(std::move(events));
}

std::vector<AnswerEvent> AnswerReader::finish() {
  if (is_over_) return {};
  std::vector<AnswerEvent> events;
  splitter_.finish(events);
  events = until_stop(std::move(events));
  if (auto rest = stops_.flush(); !rest.empty()) events.emplace_back(TextDelta{std::move(rest)});
  is_over_ = true;
  return events;
}

std::vector<AnswerEvent> AnswerReader::until_stop(std::vector<AnswerEvent> events) {
  std::vector<AnswerEvent> passed;
  for (AnswerEvent& event : events) {
    const auto* text = std::get_if<TextDelta>(&event);
    // Thinking or a call ends the text before it: no stop string begins before such an event and ends behind it.
    auto ready = text != nullptr ? stops_.feed(text->text) : stops_.flush();
    if (!ready.empty()) passed.emplace_back(TextDelta{std::move(ready)});
    is_over_ = is_over_ || !stops_.stopped_by().empty();
    if (is_over_) return passed;
    if (text == nullptr) passed.push_back(std::move(event));
  }
  is_over_ = is_over_ || splitter_.is_done();
  return passed;
}

Finish AnswerReader::finish_reason(bool hit_limit) const {
  const bool was_stopped = !stops_.stopped_by().empty();
  if (splitter_.is_done() || (was_stopped && splitter_.calls() > 0)) return Finish::kToolCalls;
  if (was_stopped) return Finish::kStopString;
  if (hit_limit) return Finish::kLength;
  return splitter_.calls() > 0 ? Finish::kToolCalls : Finish::kStop;
}

StopStrings::StopStrings(std::vector<std::string> stops) : search_(std::move(stops), MarkerLength::kShortest) {}

std::string StopStrings::feed(std::string_view text) {
  if (search_.empty()) return std::string(text);
  if (!stopped_by_.empty()) return "";
  pending_ += text;
  return take(false);
}

std::string StopStrings::flush() { return stopped_by_.empty() ? take(true) : ""; }

std::string StopStrings::take(bool at_end) {
  const auto found = search_.look(pending_, at_end);
  std::string text = pending_.substr(0, found.clear);
  if (found.marker != nullptr) {
    stopped_by_ = *found.marker;
    pending_.clear();
  } else {
    pending_.erase(0, found.clear);
  }
  return text;
}

}  // namespace rkllm_mcp::chat
