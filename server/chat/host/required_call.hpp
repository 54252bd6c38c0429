// An answer that has to be a call of a tool: whether it is one, and of a tool that may be called. Not for several
// threads.
#pragma once

#include "chat/turn/answer.hpp"
#include "chat/turn/turn.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

class RequiredCall {
 public:
  // `turn` has tools, and outlives this.
  explicit RequiredCall(const Turn& turn) : turn_(turn) {}

  // The next events of the answer, which begins with its call. Returns those that may go out: none before the call is
  // known to be one that was asked for. Later calls that were not asked for are left out.
  std::vector<AnswerEvent> take(std::vector<AnswerEvent> events);
  // The answer has begun otherwise: the run is of no use any more.
  bool has_failed() const { return complaint_.has_value(); }
  // Nothing follows. Why the answer is not what was asked for; nothing if it is.
  std::optional<std::string> complaint() const;

 private:
  bool is_asked_for(std::string_view tool) const;

  const Turn& turn_;
  bool has_called_ = false;
  std::optional<std::string> complaint_;
};

}  // namespace rkllm_mcp::chat
