#include "chat/turn/cache_record.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {

void CacheRecord::template_cleared(std::uint64_t foreign_changes) {
  template_cleared_at_ = foreign_changes;
  prompt_.clear();
}

void CacheRecord::run_begins(std::uint64_t foreign_changes) {
  if (std::exchange(run_at_, foreign_changes) != foreign_changes) has_stray_work_ = true;
}

void CacheRecord::run_ended(RunEnd end, std::string prompt) {
  has_stray_work_ = end == RunEnd::kFailed;
  if (end == RunEnd::kFailed) {
    forget();
  } else {
    begin_with(std::move(prompt));
  }
}

void CacheRecord::forget() {
  template_cleared_at_.reset();
  prompt_.clear();
}

std::size_t CacheRecord::reusable_bytes(std::string_view prompt) const {
  const auto [behind, unused] = std::ranges::mismatch(prompt, prompt_);
  return static_cast<std::size_t>(behind - prompt.begin());
}

}  // namespace rkllm_mcp::chat
