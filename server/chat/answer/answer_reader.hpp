// Everything between a model's tokens and the events of an answer: thinking, text, calls, stop strings. Not for several
// threads.
#pragma once

#include "chat/answer/answer_splitter.hpp"
#include "chat/answer/marker_search.hpp"
#include "chat/templates/render.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/turn.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// Ends an answer's text at the first of the request's stop strings. The text of the answer ends before it.
class StopStrings {
 public:
  explicit StopStrings(std::vector<std::string> stops);

  // The text that may go out now; whatever might be the beginning of a stop string stays here. Nothing once one came.
  std::string feed(std::string_view text);
  // What stayed here: none of it is a stop string, since nothing follows.
  std::string flush();

  // The one that came; empty: none has.
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  std::string take(bool at_end);

  MarkerSearch search_;
  std::string pending_;
  std::string stopped_by_;
};

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
