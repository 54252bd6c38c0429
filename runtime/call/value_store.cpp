#include "call/value_store.hpp"

#include "call/stream_registry.hpp"

#include <utility>

namespace rkllm_mcp {

std::string ValueStore::keep(ValueRows rows) {
  const std::size_t bytes = rows.bytes();
  make_room(bytes);
  MemoryShare share(memory_, 0);
  if (!share.grow(bytes)) throw no_memory();
  kept_.push_back({new_stream_id(), std::move(rows), Clock::now() + kept_for_, std::move(share)});
  if (kept_.size() == 1) expiry_.set_at(kept_.front().until);
  return kept_.back().id;
}

// Nothing is forgotten in vain: others may have used up the memory.
void ValueStore::make_room(std::size_t bytes) {
  while (kept_.size() >= kMost) kept_.pop_front();
  if (!memory_) return;
  if (bytes > memory_->limit()) {
    throw too_large("the values exceed a quarter of limits.memory_bytes; ask for fewer tokens", bytes, memory_->limit());
  }
  if (!memory_->has_room(bytes, memory_->used())) throw no_memory();
  while (!kept_.empty() && !memory_->has_room(bytes)) kept_.pop_front();
}

const ValueRows* ValueStore::find(std::string_view id) {
  for (const auto& each : kept_) {
    if (each.id == id) return each.until > Clock::now() ? &each.rows : nullptr;
  }
  return nullptr;
}

void ValueStore::forget_expired() {
  while (!kept_.empty() && kept_.front().until <= Clock::now()) kept_.pop_front();
  if (!kept_.empty()) expiry_.set_at(kept_.front().until);
}

}  // namespace rkllm_mcp
