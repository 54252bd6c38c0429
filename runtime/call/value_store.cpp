#include "call/value_store.hpp"

#include "call/stream_registry.hpp"

#include <iterator>
#include <utility>

namespace rkllm_mcp {

std::vector<std::string> ValueStore::keep(std::vector<ValueRows> sets) {
  std::size_t bytes = 0;
  for (const auto& rows : sets) bytes += rows.bytes();
  make_room(sets.size(), bytes);
  MemoryShare all(memory_, 0);
  if (!all.grow(bytes)) throw no_memory();
  std::vector<std::string> ids;
  std::deque<Kept> fresh;
  for (auto& rows : sets) {
    MemoryShare share(memory_, 0);
    all.set(all.bytes() - rows.bytes());
    share.set(rows.bytes());
    ids.push_back(new_stream_id());
    fresh.push_back({ids.back(), std::move(rows), Clock::now() + kept_for_, std::move(share)});
  }
  const bool was_empty = kept_.empty();
  kept_.insert(kept_.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  if (was_empty && !kept_.empty()) expiry_.set_at(kept_.front().until);
  return ids;
}

// Nothing is forgotten in vain: others may have used up the memory.
void ValueStore::make_room(std::size_t sets, std::size_t bytes) {
  while (!kept_.empty() && kept_.size() + sets > kMost) kept_.pop_front();
  if (!memory_) return;
  if (bytes > memory_->limit()) {
    throw too_large("the values exceed a quarter of limits.memory_bytes; ask for fewer tokens", bytes,
                    memory_->limit());
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
