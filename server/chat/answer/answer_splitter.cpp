#include "chat/answer/answer_splitter.hpp"

#include "chat/answer/call_text.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kSpaceCharacters = " \t\r\n";

std::size_t end_of_text(std::string_view text) {
  const auto last = text.find_last_not_of(kSpaceCharacters);
  return last == std::string_view::npos ? 0 : last + 1;
}

std::size_t begin_of_text(std::string_view text) {
  return std::min(text.find_first_not_of(kSpaceCharacters), text.size());
}

// Finds `markers`, and the tokens that an answer leaves out. Where special tokens mark calls, the marks of calls are
// found, too: those not in `markers` are left out as well.
MarkerSearch search_for(const Family& family, SpecialTokens shown, std::vector<std::string> markers) {
  if (family.calls_are_special || shown == SpecialTokens::kShown) {
    markers.insert(markers.end(), family.tokens_in_answers.begin(), family.tokens_in_answers.end());
  }
  if (family.calls_are_special) {
    markers.push_back(family.tools.open);
    markers.push_back(family.tools.close);
  }
  return {std::move(markers), MarkerLength::kLongest};
}

}  // namespace

AnswerSplitter::AnswerSplitter(const Family& family, SplitRules rules, std::function<std::string()> next_id)
    : form_(family.tools),
      thinking_(family.thinking),
      rules_(rules),
      next_id_(std::move(next_id)),
      call_marker_(rules.calls ? family.tools.open : ""),
      start_search_(search_for(family, rules.special_tokens, {family.thinking.open, call_marker_})),
      thinking_search_(search_for(family, rules.special_tokens, {family.thinking.close})),
      text_search_(search_for(family, rules.special_tokens, {call_marker_})),
      token_search_(search_for(family, rules.special_tokens, {})),
      mode_(rules.begins_in_thinking ? Mode::kThinking : Mode::kStart),
      skips_space_(rules.begins_in_thinking) {}

void AnswerSplitter::feed(std::string_view bytes, std::vector<AnswerEvent>& events) {
  bytes_ += bytes;
  append_whole_characters(pending_, bytes_);
  while (step(false, events)) {
  }
}

void AnswerSplitter::finish(std::vector<AnswerEvent>& events) {
  if (!bytes_.empty()) pending_ += kReplacementCharacter;  // half a character, and nothing completes it any more
  bytes_.clear();
  while (step(true, events)) {
  }
}

bool AnswerSplitter::step(bool at_end, std::vector<AnswerEvent>& events) {
  switch (mode_) {
    case Mode::kStart: return read_start(at_end);
    case Mode::kThinking: return read_thinking(at_end, events);
    case Mode::kText: return read_text(at_end, events);
    case Mode::kCall: return read_call(at_end, events);
    case Mode::kBareCall: return read_bare_call(at_end, events);
    case Mode::kBehindBareCall: return read_behind_bare_call(at_end);
    case Mode::kDone: pending_.clear(); return false;
  }
  return false;
}

// Decides what the answer, or what follows the thinking, begins with. Space before it is kept for text only.
bool AnswerSplitter::read_start(bool at_end) {
  const std::size_t space = begin_of_text(pending_);
  const auto rest = std::string_view(pending_).substr(space);
  if (rest.empty() && !at_end) return false;
  const auto found = start_search_.look(rest, at_end);
  const bool is_decided = found.clear > 0 || found.marker != nullptr || rest.empty();
  if (!is_decided) return false;
  if (found.clear == 0 && found.marker != nullptr) {
    const std::string marker = *found.marker;
    if (marker == call_marker_) {
      pending_.erase(0, space);
      begin_call(marker);
    } else if (marker == thinking_.open && !has_thought_) {
      pending_.erase(0, space + marker.size());
      mode_ = Mode::kThinking;
      skips_space_ = true;
    } else if (marker == thinking_.open) {
      mode_ = Mode::kText;  // the second one is ordinary text
    } else {
      pending_.erase(space, marker.size());
    }
    return true;
  }
  if (has_thought_) pending_.erase(0, space);
  mode_ = Mode::kText;
  if (rules_.calls && form_.syntax == CallSyntax::kBare && pending_.find('{') == begin_of_text(pending_))
    begin_call("");
  return true;
}

bool AnswerSplitter::read_thinking(bool at_end, std::vector<AnswerEvent>& events) {
  if (skips_space_) pending_.erase(0, begin_of_text(pending_));
  if (pending_.empty()) return false;
  const auto found = thinking_search_.look(pending_, at_end);
  // Space goes out with what follows it: at the end of the thinking it is only form.
  const std::size_t thought = end_of_text(std::string_view(pending_).substr(0, found.clear));
  if (thought > 0) {
    events.emplace_back(ThinkingDelta{pending_.substr(0, thought)});
    skips_space_ = false;
  }
  if (found.marker == nullptr) {
    pending_.erase(0, thought);
    return false;
  }
  if (*found.marker == thinking_.close) {
    pending_.erase(0, found.clear + found.marker->size());
    has_thought_ = true;
    mode_ = Mode::kStart;
  } else {
    pending_.erase(found.clear, found.marker->size());
    pending_.erase(0, thought);
  }
  return true;
}

bool AnswerSplitter::read_text(bool at_end, std::vector<AnswerEvent>& events) {
  const auto found = text_search_.look(pending_, at_end);
  // Where a call may follow, space before it is only form: it waits for what comes.
  const bool keeps_space = !rules_.calls || (at_end && found.marker == nullptr && calls_ == 0);
  const std::size_t end = keeps_space ? found.clear : end_of_text(std::string_view(pending_).substr(0, found.clear));
  if (found.marker == nullptr) {
    emit_text(pending_.substr(0, end), events);
    pending_.erase(0, end);
    return false;
  }
  const std::string marker = *found.marker;
  emit_text(pending_.substr(0, end), events);
  if (rules_.calls && marker == call_marker_) {
    opening_ = pending_.substr(end, found.clear - end);
    pending_.erase(0, found.clear);
    begin_call(marker);
  } else {
    pending_.erase(found.clear, marker.size());
    pending_.erase(0, end);
  }
  return true;
}

// `marker` is at the beginning of the pending text, and opening_ has what is before it.
void AnswerSplitter::begin_call(const std::string& marker) {
  opening_ += marker;
  pending_.erase(0, marker.size());
  scanned_ = 0;
  depth_ = 0;
  in_string_ = false;
  mode_ = form_.syntax == CallSyntax::kBare ? Mode::kBareCall : Mode::kCall;
}

// Goes over a string's inside; false if it does not end in the pending text.
bool AnswerSplitter::scan_string() {
  while (scanned_ < pending_.size()) {
    const char character = pending_[scanned_];
    if (character == '\\') {
      if (scanned_ + 1 == pending_.size()) return false;
      scanned_ += 2;
    } else {
      ++scanned_;
      if (character == '"') {
        in_string_ = false;
        return true;
      }
    }
  }
  return false;
}

// Up to the closing marker, which inside a JSON string is only text.
bool AnswerSplitter::read_call(bool at_end, std::vector<AnswerEvent>& events) {
  while (scanned_ < pending_.size()) {
    if (in_string_ && !scan_string()) break;
    if (scanned_ == pending_.size()) break;
    const auto rest = std::string_view(pending_).substr(scanned_);
    if (rest.starts_with(form_.close)) {
      end_call(scanned_, form_.close.size(), events);
      return true;
    }
    if (!at_end && std::string_view(form_.close).starts_with(rest)) return false;
    in_string_ = rest.front() == '"';
    ++scanned_;
  }
  if (!at_end) return false;
  end_call(pending_.size(), 0, events);  // models leave the closing marker out where their answer ends
  return true;
}

// A JSON object, up to its last brace.
bool AnswerSplitter::read_bare_call(bool at_end, std::vector<AnswerEvent>& events) {
  if (scanned_ == 0) {
    const std::size_t space = begin_of_text(pending_);
    opening_ += pending_.substr(0, space);
    pending_.erase(0, space);
    if (pending_.empty() && !at_end) return false;
    if (!pending_.starts_with('{')) {
      end_call(0, 0, events);
      return true;
    }
  }
  while (scanned_ < pending_.size()) {
    if (in_string_ && !scan_string()) break;
    if (scanned_ == pending_.size()) break;
    const char character = pending_[scanned_++];
    in_string_ = character == '"';
    if (character == '{' || character == '[') ++depth_;
    if ((character == '}' || character == ']') && --depth_ == 0) {
      end_call(scanned_, 0, events);
      return true;
    }
  }
  if (!at_end) return false;
  end_call(pending_.size(), 0, events);
  return true;
}

// Between two bare calls there may be space and semicolons; anything else is text.
bool AnswerSplitter::read_behind_bare_call(bool at_end) {
  const auto between = pending_.find_first_not_of(" \t\r\n;");
  if (between == std::string::npos) return false;
  const auto rest = std::string_view(pending_).substr(between);
  const auto found = text_search_.look(rest, at_end);
  if (found.clear == 0 && found.marker == nullptr) return false;
  if (found.clear == 0 || rest.front() == '{') {
    if (found.clear == 0 && *found.marker != call_marker_) {
      pending_.erase(between, found.marker->size());
      return true;
    }
    opening_ = pending_.substr(0, between);
    pending_.erase(0, between);
    begin_call(found.clear == 0 ? call_marker_ : "");
    return true;
  }
  mode_ = Mode::kText;
  return true;
}

std::string AnswerSplitter::without_tokens(std::string_view text) const {
  std::string result;
  while (!text.empty()) {
    const auto found = token_search_.look(text, true);
    result += text.substr(0, found.clear);
    text.remove_prefix(found.clear + (found.marker == nullptr ? 0 : found.marker->size()));
  }
  return result;
}

// The call's text ends at `end`, and `behind` more bytes are its closing marker. What is no call is text. Where the
// model has left the closing marker out, the token that ends its answer stands behind the call.
void AnswerSplitter::end_call(std::size_t end, std::size_t behind, std::vector<AnswerEvent>& events) {
  const auto body = std::string_view(pending_).substr(0, end);
  auto calls = end == 0 ? std::nullopt : read_calls(form_, body);
  if (!calls && end > 0) calls = read_calls(form_, without_tokens(body));
  if (calls) {
    mode_ = form_.syntax == CallSyntax::kBare ? Mode::kBehindBareCall : Mode::kText;
    for (const WrittenCall& call : *calls) {
      if (calls_ == rules_.most_calls) break;
      events.emplace_back(ToolCall{next_id_(), call.name, call.arguments});
      ++calls_;
    }
    if (calls_ == rules_.most_calls) mode_ = Mode::kDone;
  } else {
    mode_ = Mode::kText;
    emit_text(opening_ + without_tokens(body) + pending_.substr(end, behind), events);
  }
  pending_.erase(0, end + behind);
  opening_.clear();
}

void AnswerSplitter::emit_text(std::string text, std::vector<AnswerEvent>& events) {
  if (!text.empty()) events.emplace_back(TextDelta{std::move(text)});
}

}  // namespace rkllm_mcp::chat
