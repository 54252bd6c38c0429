// Who is told what becomes of a turn: a dialect's exchange, or a tool's call.
//
// Threads: everything on the event loop, and nothing from inside the call that has started the turn. Exactly one of
// finished() and failed() comes, last; nothing comes once the turn has been let go of.
#pragma once

#include "chat/turn/answer.hpp"
#include "chat/turn/model_lender.hpp"
#include "chat/turn/turn_error.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::chat {

// What is known when the model is there and its answer is about to begin.
struct TurnBeginning {
  std::vector<std::string> ignored{};           // options that this model or runtime cannot honour
  std::size_t dropped_messages = 0;             // truncate: "oldest_turns"
  std::optional<std::int64_t> prompt_tokens{};  // where they have been counted
  std::string conversation{};                   // with a profile: that it belongs to; empty: none
  bool search_failed = false;                   // with a profile: it answers without what it has looked for
};

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

}  // namespace rkllm_mcp::chat
