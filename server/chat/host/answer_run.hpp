// The tokens of one run on their way to the events of an answer: read, counted, and held back where they have to be
// JSON, or a call of a tool. Knows no model and no clock. Not for several threads.
#pragma once

#include "chat/answer/answer_reader.hpp"
#include "chat/structured/json_schema.hpp"
#include "chat/structured/structured_answer.hpp"
#include "chat/turn/answer.hpp"
#include "chat/turn/turn.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// An answer that has to be a call of a tool: whether it is one, and of a tool that may be called.
class RequiredCall {
 public:
  // `turn` has tools, and outlives this.
  explicit RequiredCall(const Turn& turn) : turn_(turn) {}

  // The next events of the answer, which begins with its call. Returns those that may go out: none before the call is
  // known to be one that was asked for. Later calls that were not asked for are left out.
  std::vector<AnswerEvent> take(std::vector<AnswerEvent> events);
  // The answer has begun otherwise: the run is of no use any more.
  bool has_failed() const { return complaint_.has_value(); }
  // To be called after the last take(). Returns why the answer is not what was asked for; nothing if it is.
  std::optional<std::string> complaint() const;

 private:
  bool is_asked_for(std::string_view tool) const;

  const Turn& turn_;
  bool has_called_ = false;
  std::optional<std::string> complaint_;
};

class AnswerRun {
 public:
  // `schema`: what the text has to fit, which outlives this; null: it is text. `turn` outlives this. Not movable.
  AnswerRun(const Family& family, const Turn& turn, const Prompt& prompt, const JsonSchema* schema,
            std::function<std::string()> next_id, SpecialTokens special_tokens);
  AnswerRun(const AnswerRun&) = delete;
  AnswerRun& operator=(const AnswerRun&) = delete;

  // The next token's bytes, and what may go out now.
  std::vector<AnswerEvent> take(std::string_view bytes);
  // What follows is of no use: the run is to be aborted.
  bool is_over() const {
    return reader_.is_over() || is_hopeless_ || (structured_ && structured_->is_complete()) ||
           (required_ && required_->has_failed());
  }

  struct Outcome {
    std::vector<AnswerEvent> events{};       // that have not gone out yet
    std::optional<std::string> complaint{};  // why the answer is not what it has to be: then there are no events
    Finish finish = Finish::kStop;
  };
  // The run has ended. `hit_limit`: it has made as many tokens as it was allowed.
  Outcome finish(bool hit_limit);

  std::int64_t generated() const { return generated_; }
  std::int64_t reasoning() const { return reasoning_; }
  const std::string& stop_string() const { return reader_.stop_string(); }

 private:
  // Events that may go out; those that have to wait are kept.
  std::vector<AnswerEvent> sorted(std::vector<AnswerEvent> events);

  AnswerReader reader_;
  std::optional<RequiredCall> required_;
  std::optional<StructuredAnswer> structured_;  // never together with required_
  std::vector<AnswerEvent> held_;               // all but the text, until the JSON is valid
  bool has_calls_ = false;
  bool is_hopeless_ = false;  // the text can no longer become valid JSON
  std::int64_t generated_ = 0;
  std::int64_t reasoning_ = 0;
};

}  // namespace rkllm_mcp::chat
