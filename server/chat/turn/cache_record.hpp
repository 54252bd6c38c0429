// What the host knows of a handle's KV cache. It is right only as long as nobody else changes anything and no run
// fails: then the record is empty, the runtime's template has to be cleared again, the next run is a cold one, and its
// figures mean nothing.
#pragma once

#include "chat/turn/model_seam.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::chat {

class CacheRecord {
 public:
  // Before every run. `foreign_changes` is ModelSeam::foreign_changes(), here and below.
  bool must_clear_template(std::uint64_t foreign_changes) const { return template_cleared_at_ != foreign_changes; }
  // The template has been cleared, which empties the KV cache. The number is that from before the call: a change that
  // came meanwhile is then seen the next time.
  void template_cleared(std::uint64_t foreign_changes);
  // The runtime's figures of a run also count the work of earlier runs that failed, or that somebody else has paused.
  // So they are not true if the run before it failed, or if `foreign_changes` is another number than at that run.
  void run_begins(std::uint64_t foreign_changes);
  bool has_true_figures() const { return !has_stray_work_; }  // the run that has begun
  // A run over `prompt` has ended, or a cache of it was loaded.
  void run_ended(RunEnd end, std::string prompt);
  void cache_loaded(std::string prompt) { begin_with(std::move(prompt)); }
  // The run that has ended was made for its figures alone: its prompt is nobody's conversation.
  void has_only_counted() { is_only_counted_ = true; }
  // Another prompt may take a conversation out of the KV cache: ours, or that of whoever else has used the handle.
  bool may_hold_conversation(std::uint64_t foreign_changes) const {
    return (!prompt_.empty() && !is_only_counted_) || template_cleared_at_.value_or(0) != foreign_changes;
  }
  // The handle is another one, or nothing is certain any more.
  void forget();

  // How many bytes `prompt` and the prompt before have in common at the beginning: their tokens need no prefill.
  // The answer behind that prompt does not count: the runtime compares prompts only.
  std::size_t reusable_bytes(std::string_view prompt) const;

 private:
  void begin_with(std::string prompt) {
    prompt_ = std::move(prompt);
    is_only_counted_ = false;
  }

  std::optional<std::uint64_t> template_cleared_at_;  // nothing: the template has not been cleared
  std::string prompt_;                                // whose tokens the KV cache begins with
  bool is_only_counted_ = false;
  std::uint64_t run_at_ = 0;  // `foreign_changes` when the latest run began
  bool has_stray_work_ = false;
};

inline void CacheRecord::template_cleared(std::uint64_t foreign_changes) {
  template_cleared_at_ = foreign_changes;
  prompt_.clear();
}

inline void CacheRecord::run_begins(std::uint64_t foreign_changes) {
  if (std::exchange(run_at_, foreign_changes) != foreign_changes) has_stray_work_ = true;
}

inline void CacheRecord::run_ended(RunEnd end, std::string prompt) {
  has_stray_work_ = end == RunEnd::kFailed;
  if (end == RunEnd::kFailed) {
    forget();
  } else {
    begin_with(std::move(prompt));
  }
}

inline void CacheRecord::forget() {
  template_cleared_at_.reset();
  prompt_.clear();
}

inline std::size_t CacheRecord::reusable_bytes(std::string_view prompt) const {
  const auto [behind, unused] = std::ranges::mismatch(prompt, prompt_);
  return static_cast<std::size_t>(behind - prompt.begin());
}

}  // namespace rkllm_mcp::chat
