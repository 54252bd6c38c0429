// The prompts of the profiles for MCP clients: the same words, with their holes filled by whoever asks.
#pragma once

#include "chat/assistant/profile/profile.hpp"
#include "immutable.hpp"
#include "mcp/catalogue.hpp"

#include <vector>

namespace rkllm_mcp::chat {

// PROFILE_language, _guardrail, _answer, _refusal, _summary and _shorter_summary, as far as a profile has them.
std::vector<Immutable<mcp::Prompt>> prompts_of(const std::vector<Immutable<Profile>>& profiles);

}  // namespace rkllm_mcp::chat
