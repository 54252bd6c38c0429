// OpenAI's older POST /v1/completions: a prompt that goes to the model as it is, and the text that follows it.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/dialects/reply_stream.hpp"
#include "chat/turn/turn.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> openai_completion_fields();

struct OpenAiCompletionRequest {
  Turn turn;  // with a raw prompt
  bool stream = false;
  bool include_usage = false;
  std::vector<std::string> ignored{};
};

// Throws TurnError.
OpenAiCompletionRequest read_openai_completion(const Json& request);

// Errors are openai_error_reply().
std::string openai_completion_reply(const ReplyFacts& facts, const std::vector<Answer>& answers, const Usage& sum);

class OpenAiCompletionStream final : public ReplyStream {
 public:
  OpenAiCompletionStream(const ReplyFacts& facts, bool include_usage);

  std::string event(const AnswerEvent& event, std::size_t answer) override;
  std::string heartbeat() override;
  std::string end(const AnswerEnd& end, std::size_t answer) override;
  std::string finish(const Usage& sum) override;
  std::string error(const TurnError& error) override;

 private:
  // `choices`: JSON text of the array's inside.
  std::string chunk(const std::string& choices, std::string_view usage, std::string_view more = "") const;
  std::string choice(std::size_t answer, std::string_view text, std::string_view finish) const;

  std::string head_;  // of every chunk, up to its choices
  const bool include_usage_;
};

}  // namespace rkllm_mcp::chat
