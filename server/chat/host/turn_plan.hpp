// All of a turn that can be known, and refused, before a model is there: which family it is written in, its prompt, the
// schema its answer has to fit. Not for several threads.
#pragma once

#include "chat/structured/json_schema.hpp"
#include "chat/templates/family.hpp"
#include "chat/templates/render.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/context.hpp"
#include "chat/turn/turn.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// The family of a model: `template_name` if it is given, else what the file's name tells. Null: not known. Throws
// TurnError if there is no family of this name.
const Family* family_for(std::string_view template_name, std::string_view file_name);

class TurnPlan {
 public:
  // `family`: of the model; null: only a single message is possible, in the runtime's own template. Throws TurnError,
  // also where what is said is longer than kMostPromptBytes, unless the turn lets its oldest turns be dropped.
  // `max_context_len`: the model's, where that is known.
  TurnPlan(Turn turn, const Family* family, std::optional<std::int64_t> max_context_len);

  const Turn& turn() const { return turn_; }
  // How the answer is read.
  const Family& family() const { return *family_; }
  const Prompt& prompt() const { return prompt_; }
  const JsonSchema* schema() const { return schema_ ? &*schema_ : nullptr; }
  // The runtime puts its own template around the prompt, so the prompt's bytes say little about its tokens.
  bool uses_own_template() const { return uses_own_template_; }
  // Whether the model can do what the turn says about thinking.
  bool honours_thinking() const;
  // The answer may have calls that are marked by special tokens, so the model has to show those.
  bool needs_special_tokens() const;
  // Whether the next turn's prompt can be computed ahead (warm-up) once the model has answered.
  bool goes_on() const { return turn_.goes_on && !turn_.raw_prompt && !uses_own_template_; }

  // The prompt anew, after an answer that did not fit the schema, or was not the call that it had to be.
  void ask_again(std::string_view complaint);
  // Drops the oldest turns: at least one, and so many that the prompt has at most `most_bytes`, or only the last turn
  // is left. Returns false if the turn does not let any be dropped, or has none. dropped() counts the messages.
  bool shorten(std::size_t most_bytes);
  std::size_t dropped() const { return dropped_; }

  // The beginning of the next turn's prompt, once the model has given this answer.
  std::string text_after(const Answer& answer) const;

 private:
  void write();
  // What this turn alone asks of the answer; `complaint`: what was wrong with the one before.
  std::string instruction(std::string_view complaint) const;
  std::size_t drop(std::size_t bytes, std::size_t bytes_around);  // see drop_oldest_turns()

  Turn turn_;
  std::unique_ptr<const Family> raw_family_;  // of a raw prompt
  const Family* family_;
  std::optional<JsonSchema> schema_;
  std::string instruction_;
  Prompt prompt_;
  bool uses_own_template_ = false;
  std::size_t dropped_ = 0;
};

}  // namespace rkllm_mcp::chat
