// What another server is asked for a text: Ollama's POST /api/generate, or OpenAI's POST chat/completions. Pure.
#pragma once

#include "chat/assistant/provider.hpp"
#include "text/url.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::chat {

struct RemoteRequest {
  Url url;
  std::string body;
  bool is_stream = false;  // answers are; a yes, a no and a summary come whole
};

// `profile.provider` is not kRuntime. Throws std::invalid_argument if its url is none.
RemoteRequest remote_request(const Profile& profile, const TextWish& wish);

// What a client has asked for and such a provider is not told, by the names that x-rkllm-ignored has.
std::vector<std::string> not_sent(ProviderKind provider, const Turn& turn);

}  // namespace rkllm_mcp::chat
