// A turn's answer as OpenAI's chat completion: whole, in chunks, or as an error.
#pragma once

#include "chat/dialects/openai/openai_chat_request.hpp"
#include "chat/dialects/reply_stream.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// {"error":{message,type,param,code}}; with the context's figures where it is too short.
Json openai_error(const TurnError& error);
ErrorReply openai_error_reply(const TurnError& error);

std::string_view openai_finish(Finish finish);
// Null where the prompt's tokens are not known: then no sum is, either.
Json openai_usage(const Usage& usage);

// `sum`: the usage of all answers.
std::string openai_chat_reply(const ReplyFacts& facts, const std::vector<Answer>& answers, const Usage& sum);

class OpenAiChatStream final : public ReplyStream {
 public:
  // With figures.usage_at_end all chunks but that one say null.
  OpenAiChatStream(const ReplyFacts& facts, const StreamFigures& figures);

  void begun(const TurnBeginning& beginning) override;
  void progress(const AnswerProgress& progress) override;
  std::string event(const AnswerEvent& event, std::size_t answer) override;
  std::string heartbeat() override;
  std::string end(const AnswerEnd& end, std::size_t answer) override;
  std::string finish(const Usage& sum) override;
  std::string error(const TurnError& error) override;

 private:
  void write_head();
  // A chunk of one choice; `finish` and `more` are JSON text, `more` with a comma before it.
  std::string chunk(std::size_t answer, std::string_view delta, std::string_view finish = "null",
                    std::string_view more = "") const;
  // The chunk with the role, if this answer has not had it.
  std::string role_once(std::size_t answer);

  ReplyFacts facts_;
  const bool has_timings_;
  std::string timings_;  // of the chunks to come, as `more` of chunk(); empty: none
  std::string head_;     // of every chunk, up to its choices
  std::string tail_;     // behind its choices
  std::set<std::size_t> begun_;
  std::vector<std::size_t> calls_;  // how many calls each answer has so far
};

}  // namespace rkllm_mcp::chat
