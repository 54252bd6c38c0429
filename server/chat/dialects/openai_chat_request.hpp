// OpenAI's chat request (POST /v1/chat/completions) as a turn.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> openai_chat_fields();

struct OpenAiChatRequest {
  Turn turn;
  bool stream = false;
  bool include_usage = false;  // a last chunk with the usage
  std::vector<std::string> ignored{};
};

// Throws TurnError.
OpenAiChatRequest read_openai_chat(const Json& request);

}  // namespace rkllm_mcp::chat
