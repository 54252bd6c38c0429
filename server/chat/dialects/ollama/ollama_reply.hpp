// A turn's answer in Ollama's form: lines of JSON, or one object.
#pragma once

#include "chat/dialects/ollama/ollama_request.hpp"
#include "chat/dialects/reply_stream.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

enum class OllamaSurface { kChat, kGenerate };

Json ollama_error(const TurnError& error);  // {"error":"..."}
ErrorReply ollama_error_reply(const TurnError& error);

std::string ollama_reply(OllamaSurface surface, const ReplyFacts& facts, const Answer& answer);
// The answer to a request that only loads or unloads; `wish` is not kAnswer.
std::string ollama_load_reply(OllamaSurface surface, const ReplyFacts& facts, OllamaWish wish);

class OllamaStream final : public ReplyStream {
 public:
  OllamaStream(OllamaSurface surface, ReplyFacts facts);

  std::string_view content_type() const override { return "application/x-ndjson"; }
  std::string event(const AnswerEvent& event, std::size_t answer) override;
  std::string heartbeat() override;  // a piece of the answer without anything in it
  std::string end(const AnswerEnd& end, std::size_t answer) override;
  std::string finish(const Usage& /*sum*/) override { return ""; }
  std::string error(const TurnError& error) override;

 private:
  std::string line_of(const Answer& piece) const;

  const OllamaSurface surface_;
  const ReplyFacts facts_;
};

}  // namespace rkllm_mcp::chat
