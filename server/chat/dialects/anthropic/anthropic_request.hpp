// Anthropic's POST /v1/messages (and /v1/messages/count_tokens) as a turn.
#pragma once

#include "chat/dialects/field_table.hpp"
#include "chat/turn/turn.hpp"

#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

std::span<const Field> anthropic_fields();

struct AnthropicRequest {
  Turn turn;
  bool stream = false;
  std::vector<std::string> ignored{};
};

// Throws TurnError.
AnthropicRequest read_anthropic(const Json& request);
// Reads a request whose tokens are to be counted: it has no max_tokens.
AnthropicRequest read_anthropic_count(const Json& request);

}  // namespace rkllm_mcp::chat
