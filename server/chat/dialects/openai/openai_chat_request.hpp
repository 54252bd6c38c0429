// OpenAI's chat request (POST /v1/chat/completions) as a turn.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> openai_chat_fields();

// Which figures a stream has beside those of its last chunk with a choice.
struct StreamFigures {
  bool usage_at_end = false;       // stream_options.include_usage: one more chunk, without choices
  bool timings_per_token = false;  // in each chunk of an answer, as far as it has come
};

struct OpenAiChatRequest {
  Turn turn;
  bool stream = false;
  StreamFigures figures{};
  std::vector<std::string> ignored{};
};

// Throws TurnError.
OpenAiChatRequest read_openai_chat(const Json& request);

}  // namespace rkllm_mcp::chat
