// Who makes the texts of an assistant: a model of this server, or another server. A seam: the assistant does not know
// which it is.
//
// Threads: event loop only; nothing is told from inside the function that asks.
#pragma once

#include "chat/assistant/profile/profile.hpp"
#include "chat/assistant/profile/wording.hpp"
#include "chat/host/turn_listener.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"

#include <memory>
#include <string>

namespace rkllm_mcp::chat {

struct TextWish {
  Purpose purpose = Purpose::kAnswer;
  Turn turn;  // its model is the provider's; its messages: perhaps one of the system, and one of a user
};

class Provider {
 public:
  virtual ~Provider() = default;

  // As ChatHost::start(): throws TurnError for what is known to be wrong at once, and destroying what is returned gives
  // the text up, held or not.
  virtual std::unique_ptr<Running> make(const Profile& profile, TextWish wish, const Asker& asker,
                                        const std::string& peer, TurnListener& listener) = 0;
};

}  // namespace rkllm_mcp::chat
