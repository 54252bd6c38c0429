// A whole conversation as the text that a model of a family continues. Pure functions.
//
// The runtime compares each prompt with the one before, token by token, and computes only what is new. So what is
// written for the past must not depend on what comes later, as far as the family's form allows.
#pragma once

#include "chat/templates/family.hpp"
#include "chat/turn/turn.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

struct Conversation {
  std::vector<ChatMessage> messages{};
  std::vector<FunctionTool> tools{};
  ToolChoice tool_choice{};
  Thinking thinking = Thinking::kAsTheModelDoes;
  // What is said in this turn only, e.g. the schema that the answer must fit. Stands behind the last user message, so
  // that all before it is the same in the next turn.
  std::string instruction{};
};

// What of a turn the template has to know.
Conversation conversation_of(const Turn& turn, std::string instruction = "");

struct Prompt {
  std::string text;
  // The end of `text` that belongs to the answer: the beginning of a tool call. The answer's reader gets it first.
  std::string forced{};
  bool in_thinking = false;  // the answer begins with what the model thinks
};

// Whether a model of that form can obey this wish: one that never thinks cannot be told to think, one that always
// thinks cannot be told not to.
bool can_be_told(const ThinkingForm& form, Thinking thinking);

// Throws TurnError if the choice demands a call of a tool, and there are no tools.
void require_tools(const ToolChoice& choice, const std::vector<FunctionTool>& tools);

// The prompt of the next answer. If the last message is an assistant's without calls, its text is the beginning of the
// answer, which the model goes on with. Pictures are left out: refuse them before.
// Throws TurnError: no messages; a tool choice that the family cannot force.
Prompt render(const Family& family, const Conversation& conversation);

// The beginning of the next turn's prompt, as it will be once the conversation has ended with an assistant's message:
// for the warm-up run. What it has thought is gone by then. Ends where the next message will begin.
std::string text_for_next_turn(const Family& family, const Conversation& conversation);

// JSON the way templates write it: as Python's json.dumps does, with a space behind ',' and ':'. Models have seen their
// tools in that form, so it is worth being exact. `indent` spaces for each level, every member on a line of its own; 0:
// all in one line.
std::string python_json(const Json& value, unsigned indent = 0);

// `text` with a space behind the first character of all that the family's tokenizer could take for a special token. It
// stays readable, and is shown as what it is. What others have written must stay text: a user, a web page or a tool's
// result that contains "<|im_end|>" would else end its own turn and begin another in somebody else's name.
std::string neutral_text(const Family& family, std::string_view text);

}  // namespace rkllm_mcp::chat
