// The models of this server as an assistant's provider. Event loop only.
#pragma once

#include "chat/assistant/providers/provider.hpp"
#include "chat/host/chat_host.hpp"

namespace rkllm_mcp::chat {

class ModelProvider final : public Provider {
 public:
  // `host` outlives it.
  explicit ModelProvider(ChatHost& host) : host_(host) {}

  std::unique_ptr<Running> make(const Profile& profile, TextWish wish, const Asker& asker, const std::string& peer,
                                TurnListener& listener) override;

 private:
  ChatHost& host_;
};

}  // namespace rkllm_mcp::chat
