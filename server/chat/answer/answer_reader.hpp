// Everything between a model's tokens and the events of an answer: thinking, text, calls, stop strings. Not for several
// threads.
#pragma once

#include "chat/answer/answer_splitter.hpp"
#include "chat/answer/stop_strings.hpp"
#include "chat/templates/render.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/turn.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class AnswerReader {
 public:
  // For the answer to `turn`, whose prompt was `prompt`. `next_id` gives each tool call its id.
  AnswerReader(const Family& family, const Turn& turn, const Prompt& prompt, std::function<std::string()> next_id,
               SpecialTokens special_tokens = SpecialTokens::kHidden);

  // The next token's bytes, and what can be told of them. Nothing once the answer is over.
  std::vector<AnswerEvent> feed(std::string_view bytes);
  // The run has ended.
  std::vector<AnswerEvent> finish();

  // What follows is of no use: a stop string came, or the only call that was wanted. The run is to be aborted (and
  // never paused: the next run would be appended to it).
  bool is_over() const { return is_over_; }
  bool in_thinking() const { return splitter_.in_thinking(); }
  // Why the answer ended. `hit_limit`: the run has made as many tokens as it was allowed.
  Finish finish_reason(bool hit_limit) const;
  const std::string& stop_string() const { return stops_.stopped_by(); }

 private:
  // `events` with stop strings looked for in their text.
  std::vector<AnswerEvent> until_stop(std::vector<AnswerEvent> events);

  AnswerSplitter splitter_;
  StopStrings stops_;
  bool is_over_ = false;
};

}  // namespace rkllm_mcp::chat
