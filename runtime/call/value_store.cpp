#include "call/value_store.hpp"

#include "limit.hpp"
#include "random_bytes.hpp"

#include <iterator>
#include <map>
#include <utility>

namespace rkllm_mcp {

std::vector<std::string> ValueStore::keep(std::vector<ValueRows> sets, const std::string& owner) {
  std::size_t bytes = 0;
  for (const auto& rows : sets) bytes += rows.bytes();
  make_room({sets.size(), bytes}, owner);
  MemoryShare all(memory_, 0);
  if (!all.grow(bytes)) throw no_memory();
  std::vector<std::string> ids;
  std::deque<Kept> fresh;
  for (auto& rows : sets) {
    MemoryShare share(memory_, 0);
    all.set(all.bytes() - rows.bytes());
    share.set(rows.bytes());
    ids.push_back(new_id());
    fresh.push_back({ids.back(), std::move(rows), Clock::now() + kept_for_, std::move(share), owner});
  }
  const bool was_empty = kept_.empty();
  kept_.insert(kept_.end(), std::make_move_iterator(fresh.begin()), std::make_move_iterator(fresh.end()));
  if (was_empty && !kept_.empty()) expiry_.set_at(kept_.front().until);
  return ids;
}

// Chooses first, and drops only when the choice makes room enough: else it throws, and everything is kept.
void ValueStore::make_room(Amount wanted, const std::string& owner) {
  if (memory_.exists() && wanted.bytes > memory_.limit()) {
    throw too_large("the values exceed a quarter of " + std::string(name_of(Limit::kMemory)) + "; ask for fewer tokens",
                    wanted.bytes, memory_.limit());
  }
  std::map<std::string_view, Amount> amounts;
  amounts[owner] = wanted;
  for (Kept& kept : kept_) {
    kept.goes = false;
    amounts[kept.owner].sets += 1;
    amounts[kept.owner].bytes += kept.rows.bytes();
  }
  Amount free;
  const auto give_up_one = [&](std::size_t Amount::*counted) {
    Kept* chosen = nullptr;
    std::size_t most = amounts[owner].*counted;
    for (Kept& kept : kept_) {
      const std::size_t amount = amounts[kept.owner].*counted;
      if (kept.goes || amount < most || (chosen != nullptr && amount == most)) continue;
      chosen = &kept;
      most = amount;
    }
    if (chosen == nullptr) throw no_memory();
    chosen->goes = true;
    Amount& left = amounts[chosen->owner];
    const std::size_t bytes = chosen->rows.bytes();
    left = {left.sets - 1, left.bytes - bytes};
    free = {free.sets + 1, free.bytes + bytes};
  };
  while (kept_.size() > free.sets && kept_.size() - free.sets + wanted.sets > kMost) give_up_one(&Amount::sets);
  while (!memory_.has_room(wanted.bytes, free.bytes)) give_up_one(&Amount::bytes);
  std::erase_if(kept_, [](const Kept& kept) { return kept.goes; });
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
