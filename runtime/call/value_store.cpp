#include "call/value_store.hpp"

#include "call/stream_registry.hpp"

#include <utility>

namespace rkllm_mcp {

std::string ValueStore::keep(ValueRows rows) {
  forget_expired();
  MemoryShare share(memory_, 0);
  const std::size_t bytes = rows.bytes();
  while (!kept_.empty() && (kept_.size() >= kMost || !share.has_room_for(bytes))) kept_.pop_front();
  if (!share.grow(bytes)) throw no_memory();
  kept_.push_back({new_stream_id(), std::move(rows), Clock::now() + kKeptFor, std::move(share)});
  return kept_.back().id;
}

const ValueRows* ValueStore::find(std::string_view id) {
  forget_expired();
  for (const auto& each : kept_) {
    if (each.id == id) return &each.rows;
  }
  return nullptr;
}

void ValueStore::forget_expired() {
  while (!kept_.empty() && kept_.front().until <= Clock::now()) kept_.pop_front();
}

}  // namespace rkllm_mcp
