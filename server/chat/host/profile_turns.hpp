// Profiles: names under which more than a model answers. The host asks here first for every name, and hands turns that
// name a profile on; the assistant stands behind it.
//
// Threads: event loop only.
#pragma once

#include "chat/host/turn_listener.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class ProfileTurns {
 public:
  virtual ~ProfileTurns() = default;

  // In a fixed order, each with what is known of the model behind it.
  virtual std::vector<ModelDescription> models(const Asker& asker) const = 0;
  virtual std::optional<ModelDescription> find(std::string_view name, const Asker& asker) const = 0;
  // As ChatHost::start(); turn.model is the name of a profile.
  virtual std::unique_ptr<Running> start(Turn turn, const Asker& asker, std::string peer, TurnListener& listener) = 0;
};

}  // namespace rkllm_mcp::chat
