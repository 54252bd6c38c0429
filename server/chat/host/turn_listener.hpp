// Who is told what becomes of a turn: a dialect's exchange, or a tool's call; what they hold meanwhile; and the
// interface of what makes a turn in the host's place (profiles).
//
// Threads: everything on the event loop, and nothing from inside the call that has started the turn. Exactly one of
// finished() and failed() comes, last; nothing comes once the turn has been let go of, which any of these but queued()
// and loading() may do. begun() comes once, before the first event.
#pragma once

#include "chat/turn/answer.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn.hpp"
#include "chat/turn/turn_error.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class TurnListener {
 public:
  virtual ~TurnListener() = default;

  virtual void queued(std::size_t /*places_before*/) {}
  virtual void loading(const LoadProgress& /*progress*/) {}
  virtual void begun(const TurnBeginning& /*beginning*/) {}
  // A token has come, and perhaps events of it come next. `answer` as in event().
  virtual void progress(const AnswerProgress& /*progress*/, std::size_t /*answer*/) {}
  // `answer` counts the answers of one request, which come one after the other.
  virtual void event(const AnswerEvent& event, std::size_t answer) = 0;
  virtual void ended(const AnswerEnd& end, std::size_t answer) = 0;
  virtual void finished(const Usage& sum) = 0;
  virtual void failed(const TurnError& error) = 0;
};

// Something that is being made for somebody. Destroying it gives it up. Event loop only.
class Running {
 public:
  virtual ~Running() = default;
  // Pauses the making: whoever asked cannot take more for now. A kind that cannot pause does nothing.
  virtual void hold() {}
  // Ends the pause of hold(), if there is one.
  virtual void go_on() {}
};

// Profiles: names under which more than a model answers. The host asks here first for every name, and hands turns that
// name a profile on; the assistant stands behind it.
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
