#include "chat/host/turn_plan.hpp"

#include "chat/structured/structured_answer.hpp"
#include "chat/templates/family.hpp"
#include "chat/templates/render.hpp"
#include "chat/turn/context.hpp"
#include "chat/turn/turn_error.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::string_view kPlainFamily = "plain";

void refuse_images(const Turn& turn) {
  if (std::ranges::none_of(turn.messages, has_image)) return;
  throw TurnError::not_supported(turn.images_field.empty() ? turn.prompt_field : turn.images_field,
                                 "a picture needs a vision encoder, and this server has none; send text only");
}

// The family of raw prompts: "plain", but with the tokens that the model's own family leaves out of answers.
std::unique_ptr<const Family> family_of_raw_prompts(const Family& of_model) {
  Family made = *find_family(built_in_families(), kPlainFamily);
  made.tokens_in_answers = of_model.tokens_in_answers;
  return std::make_unique<const Family>(std::move(made));
}

template <class Value>
void add_new(const std::vector<Value>& more, std::vector<Value>& all) {
  std::ranges::copy_if(more, std::back_inserter(all),
                       [&all](const Value& each) { return std::ranges::find(all, each) == all.end(); });
}

// The family of turns in the runtime's own template, where the model's real one is not known: it escapes the special
// tokens of all families, and knows the marks of thinking, which are the same in all. Made once, of the families that
// are compiled in.
const Family& family_of_own_template() {
  static const Family family = [] {
    const auto families = built_in_families();
    Family made = *find_family(families, kPlainFamily);
    for (const Family& each : families) {
      add_new(each.special_tokens, made.special_tokens);
      add_new(each.special_brackets, made.special_brackets);
      add_new(each.tokens_in_answers, made.tokens_in_answers);
    }
    const auto thinks = std::ranges::find_if(families, [](const Family& each) { return !each.thinking.open.empty(); });
    made.thinking.open = thinks->thinking.open;
    made.thinking.close = thinks->thinking.close;
    return made;
  }();
  return family;
}

// Without a family only what the runtime's own template can write: one message of a user.
std::string single_message(const Turn& turn) {
  require_tools(turn.tool_choice, turn.tools);
  const bool is_single = turn.messages.size() == 1 && turn.messages.front().role == Role::kUser;
  if (!turn.raw_prompt && is_single && turn.tools.empty()) return text_of(turn.messages.front());
  throw TurnError::not_supported(
      turn.prompt_field,
      "the template of this model is not known, so only a single user message is possible: no history, no system "
      "text, no tools, no raw prompt; models.NAME.template in the settings names the family, e.g. \"qwen3\"");
}

}  // namespace

const Family* family_for(std::string_view template_name, std::string_view file_name) {
  const Family* family = family_of_model(template_name, file_name);
  if (family != nullptr || template_name.empty()) return family;
  std::string known;
  for (const Family& each : built_in_families()) known.append(known.empty() ? "" : ", ").append(each.name);
  throw TurnError::not_supported("model", "its template \"" + std::string(template_name) +
                                              "\" in the settings does not exist; there are: " + known);
}

TurnPlan::TurnPlan(Turn turn, const Family* family, std::optional<std::int64_t> max_context_len)
    : turn_(std::move(turn)), family_(family) {
  refuse_images(turn_);
  if (family_ == nullptr) {
    uses_own_template_ = true;
    family_ = &family_of_own_template();
  } else if (turn_.raw_prompt) {
    raw_family_ = family_of_raw_prompts(*family_);
    family_ = raw_family_.get();
  }
  // Before it is written, and its schema read: that goes over each byte, on the event loop.
  std::size_t bytes = bytes_of(turn_);
  while (bytes > kMostPromptBytes && drop(bytes - kMostPromptBytes, 0) > 0) bytes = bytes_of(turn_);
  if (bytes > kMostPromptBytes) {
    const auto context = max_context_len ? std::optional(context_tokens(*max_context_len)) : std::nullopt;
    throw TurnError::prompt_too_long(kMostPromptBytes, context).of_field(turn_.prompt_field);
  }
  if (turn_.format.kind != OutputKind::kText) {
    schema_ = schema_of(turn_.format, turn_.format_field);
  }
  instruction_ = instruction("");
  write();
}

void TurnPlan::write() {
  if (uses_own_template_) {
    const std::string behind = instruction_.empty() ? "" : "\n\n" + instruction_;
    prompt_ = {.text = neutral_text(*family_, single_message(turn_) + behind), .forced = "", .in_thinking = false};
  } else if (turn_.raw_prompt) {
    const std::string behind = instruction_.empty() ? "" : "\n\n" + instruction_;
    prompt_ = {.text = *turn_.raw_prompt + behind, .forced = "", .in_thinking = false};
  } else {
    prompt_ = render(*family_, conversation_of(turn_, instruction_));
  }
}

void TurnPlan::ask_again(std::string_view complaint) {
  instruction_ = instruction(complaint);
  write();
}

// A forced call comes first; the JSON is asked for with its result.
std::string TurnPlan::instruction(std::string_view complaint) const {
  if (turn_.tool_choice.must_call()) {
    return complaint.empty() ? "" : "Call a tool. An earlier answer was wrong: " + std::string(complaint);
  }
  return turn_.format.kind == OutputKind::kText ? "" : structured_instruction(turn_.format, complaint);
}

bool TurnPlan::needs_special_tokens() const {
  const bool offers_tools = !turn_.tools.empty() && turn_.tool_choice.use != ToolUse::kNone;
  return offers_tools && family_->calls_are_special && family_->tools.syntax != CallSyntax::kBare;
}

bool TurnPlan::honours_thinking() const {
  if (uses_own_template_) return true;  // the runtime hands it on to the template: each that can chat does
  if (turn_.raw_prompt) return turn_.thinking == Thinking::kAsTheModelDoes;
  return can_be_told(family_->thinking, turn_.thinking);
}

bool TurnPlan::shorten(std::size_t most_bytes) {
  const std::size_t dropped_before = dropped_;
  std::size_t taken = 0;
  do {
    const std::size_t bytes = prompt_.text.size();
    // Rather too large, so that rather too few messages are dropped: the loop drops more if need be.
    const std::size_t marks = std::max(family_->user.size(), family_->assistant.size());
    taken = drop(bytes > most_bytes ? bytes - most_bytes : 0, marks);
    if (taken > 0) write();
  } while (taken > 0 && prompt_.text.size() > most_bytes);
  return dropped_ > dropped_before;
}

std::size_t TurnPlan::drop(std::size_t bytes, std::size_t bytes_around) {
  if (!turn_.drop_oldest_turns || turn_.raw_prompt || uses_own_template_) return 0;
  const std::size_t taken = drop_oldest_turns(turn_.messages, bytes, bytes_around);
  dropped_ += taken;
  return taken;
}

std::string TurnPlan::text_after(const Answer& answer) const {
  Conversation conversation = conversation_of(turn_);
  const bool was_begun =
      !turn_.messages.empty() && turn_.messages.back().role == Role::kAssistant && turn_.messages.back().calls.empty();
  if (was_begun) {  // its text was the beginning of this answer
    ChatMessage& begun = conversation.messages.back();
    begun.parts = {TextPart{text_of(begun) + answer.text}};
    begun.calls = answer.calls;
  } else {
    ChatMessage said = text_message(Role::kAssistant, answer.text);
    said.thinking = answer.thinking;
    said.calls = answer.calls;
    conversation.messages.push_back(std::move(said));
  }
  return text_for_next_turn(*family_, conversation);
}

}  // namespace rkllm_mcp::chat
