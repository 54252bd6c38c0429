// Splits what a model writes into thinking, text and tool calls, while it comes. Markers that are only half there are
// held back; a call goes out when it is whole, and what turns out to be no call goes out as the text that it is.
//
// What comes out never depends on where the text was cut. Not for several threads.
#pragma once

#include "chat/answer/marker_search.hpp"
#include "chat/templates/family.hpp"
#include "chat/turn/answer.hpp"

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// Whether a model's special tokens have text, as they do with skip_special_token=false.
enum class SpecialTokens { kHidden, kShown };

struct SplitRules {
  bool calls = false;  // tools are offered; else what looks like a call is text
  bool begins_in_thinking = false;
  SpecialTokens special_tokens = SpecialTokens::kHidden;
  std::size_t most_calls = std::numeric_limits<std::size_t>::max();  // behind them nothing comes out any more
};

class AnswerSplitter {
 public:
  // `next_id` gives each call its id.
  AnswerSplitter(const Family& family, SplitRules rules, std::function<std::string()> next_id);

  // The next bytes, which may end within a character. What can be told of them is appended to `events`.
  void feed(std::string_view bytes, std::vector<AnswerEvent>& events);
  // Nothing follows.
  void finish(std::vector<AnswerEvent>& events);

  bool in_thinking() const { return mode_ == Mode::kThinking; }
  std::size_t calls() const { return calls_; }
  // All the calls that are wanted have come: there is no use in going on.
  bool is_done() const { return mode_ == Mode::kDone; }

 private:
  enum class Mode { kStart, kThinking, kText, kCall, kBareCall, kBehindBareCall, kDone };

  // One step of a mode; false if it needs more text.
  bool step(bool at_end, std::vector<AnswerEvent>& events);
  bool read_start(bool at_end);
  bool read_thinking(bool at_end, std::vector<AnswerEvent>& events);
  bool read_text(bool at_end, std::vector<AnswerEvent>& events);
  bool read_call(bool at_end, std::vector<AnswerEvent>& events);
  bool read_bare_call(bool at_end, std::vector<AnswerEvent>& events);
  bool read_behind_bare_call(bool at_end);

  void begin_call(const std::string& marker);
  bool scan_string();
  std::string without_tokens(std::string_view text) const;
  void end_call(std::size_t end, std::size_t behind, std::vector<AnswerEvent>& events);
  static void emit_text(std::string text, std::vector<AnswerEvent>& events);

  const ToolForm form_;
  const ThinkingForm thinking_;
  const SplitRules rules_;
  const std::function<std::string()> next_id_;
  const std::string call_marker_;  // empty where calls are not read, or begin without one
  const MarkerSearch start_search_, thinking_search_, text_search_, token_search_;
  Mode mode_;
  std::string bytes_;         // the beginning of a character
  std::string pending_;       // whole characters that are not decided yet
  std::string opening_;       // the marker of the call that is being read, and the space before it
  std::size_t scanned_ = 0;   // bytes of pending_ that the reading of a call has seen
  std::size_t depth_ = 0;     // of a bare call's JSON
  bool in_string_ = false;    // of a call's JSON
  bool skips_space_ = false;  // at the beginning of the thinking
  bool has_thought_ = false;
  std::size_t calls_ = 0;
};

}  // namespace rkllm_mcp::chat
