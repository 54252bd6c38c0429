#include "chat/assistant/providers/model_provider.hpp"

#include <utility>

namespace rkllm_mcp::chat {

std::unique_ptr<Running> ModelProvider::make(const Profile& /*profile*/, TextWish wish, const Asker& asker,
                                             const std::string& peer, TurnListener& listener) {
  wish.turn.goes_on = false;  // each prompt is written anew
  // A yes, a no, a summary, a title: whatever is thought before it would use up its few tokens.
  if (wish.purpose != Purpose::kAnswer) wish.turn.thinking = Thinking::kSkipped;
  return host_.start_on_model(std::move(wish.turn), asker, peer, listener);
}

}  // namespace rkllm_mcp::chat
