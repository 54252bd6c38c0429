// A turn's answer as Anthropic's message: whole, as events, or as an error.
#pragma once

#include "chat/dialects/reply_stream.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

// {"type":"error","error":{type,message},"request_id":...}
Json anthropic_error(const TurnError& error, std::string_view request_id);
ErrorReply anthropic_error_reply(const TurnError& error, std::string_view request_id);

std::string anthropic_reply(const ReplyFacts& facts, const Answer& answer);
// The answer of count_tokens, which says so if it is an estimate.
enum class CountKind { kExact, kEstimate };
std::string anthropic_count_reply(std::int64_t tokens, CountKind kind);

class AnthropicStream final : public ReplyStream {
 public:
  // The protocol wants a number in message_start: where the prompt has not been counted yet it is 0, and message_delta
  // has the true one.
  explicit AnthropicStream(ReplyFacts facts);

  void begun(const TurnBeginning& beginning) override;
  std::string event(const AnswerEvent& event, std::size_t answer) override;
  std::string heartbeat() override;
  std::string end(const AnswerEnd& end, std::size_t answer) override;
  std::string finish(const Usage& sum) override;
  std::string error(const TurnError& error) override;

 private:
  enum class Block { kNone, kThinking, kText };

  std::string start_once();
  // Ends the block that is open and begins another one.
  std::string change_to(Block block);
  std::string block_start(const Json& block) const;
  std::string block_delta(std::string_view type, std::string_view member, std::string_view text) const;

  const ReplyFacts facts_;
  Usage known_;  // before the answer
  bool has_started_ = false;
  Block block_ = Block::kNone;
  std::size_t index_ = 0;  // of the open block, or of the next
};

}  // namespace rkllm_mcp::chat
