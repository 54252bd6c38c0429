// Budgets for the memory that clients cause to be used: unfinished input, requests that wait, streams, and answers that
// wait for a client or are kept for one. Whoever stores something takes a MemoryShare, which grows and shrinks with it.
//
// A budget may be part of another one: what is taken from the part is taken from the whole, too (the budget of all
// streams is part of the server's). When a budget is used up, each share may still hold the bytes that it is guaranteed
// (MemoryShare::kGuaranteed, unless its maker chose others), so that one client which fills the budget does not stop
// all others.
//
// Threads: a budget is for any; a share for one at a time.
#pragma once

#include "limit.hpp"

#include <rkllm_mcp/errors.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace rkllm_mcp {

// A copy is the same budget, and keeps it: a share may outlive whoever made the budget. The default is no budget at
// all: it always has room, and counts nothing.
class MemoryBudget {
 public:
  MemoryBudget() = default;
  // `whole`: the budget that it is part of.
  explicit MemoryBudget(std::size_t limit, const MemoryBudget& whole = {})
      : state_(std::make_shared<State>(limit, whole.state_)) {}

  bool exists() const { return state_ != nullptr; }
  std::size_t limit() const { return state_ ? state_->limit : static_cast<std::size_t>(-1); }
  std::size_t used() const { return state_ ? state_->used.load(std::memory_order_relaxed) : 0; }
  // Whether `bytes` more fit. `given_back`: bytes of what is used that count as free, since they are about to be.
  bool has_room(std::size_t bytes, std::size_t given_back = 0) const {
    for (const State* each = state_.get(); each != nullptr; each = each->whole.get()) {
      if (!each->has_room(bytes, given_back)) return false;
    }
    return true;
  }
  // Whether `bytes` more fit in this budget alone, whatever room the budget has that it is part of.
  bool has_room_in_its_part(std::size_t bytes, std::size_t given_back = 0) const {
    return !state_ || state_->has_room(bytes, given_back);
  }

 private:
  friend class MemoryShare;
  struct State {
    State(std::size_t most, std::shared_ptr<State> of) : limit(most), whole(std::move(of)) {}
    bool has_room(std::size_t bytes, std::size_t given_back) const {
      const std::size_t now = used.load(std::memory_order_relaxed);
      const std::size_t taken = now - (given_back < now ? given_back : now);
      return taken <= limit && bytes <= limit - taken;
    }

    const std::size_t limit;
    const std::shared_ptr<State> whole;  // null: it is part of no other
    std::atomic<std::size_t> used{0};
  };

  void change(std::size_t from, std::size_t to) const {
    for (State* each = state_.get(); each != nullptr; each = each->whole.get()) {
      each->used.fetch_add(to - from, std::memory_order_relaxed);
    }
  }

  std::shared_ptr<State> state_;
};

// What one holder has taken of a budget, given back when the share is destroyed. Without a budget there is always
// room.
class MemoryShare {
 public:
  // Bytes that each share may hold whatever the others do.
  static constexpr std::size_t kGuaranteed = std::size_t{64} << 10U;

  explicit MemoryShare(MemoryBudget memory = {}, std::size_t guaranteed = kGuaranteed)
      : memory_(std::move(memory)), guaranteed_(guaranteed) {}
  MemoryShare(MemoryShare&& other) noexcept
      : memory_(std::move(other.memory_)), guaranteed_(other.guaranteed_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    if (this == &other) return *this;
    set(0);
    memory_ = std::move(other.memory_);
    guaranteed_ = other.guaranteed_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~MemoryShare() { set(0); }

  // It holds so many bytes from now on, whether there is room or not: ask has_room_for() first where that matters.
  void set(std::size_t bytes) {
    memory_.change(bytes_, bytes);
    bytes_ = bytes;
  }
  bool has_room_for(std::size_t more) const { return bytes_ + more <= guaranteed_ || memory_.has_room(more); }
  // Whether the budget itself lacks room for `more` bytes, and not only the budget that it is part of.
  bool is_too_much_for_its_part(std::size_t more) const { return !memory_.has_room_in_its_part(more); }
  // Takes so many bytes more; false if there is no room for them.
  bool grow(std::size_t more) {
    if (!has_room_for(more)) return false;
    set(bytes_ + more);
    return true;
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t limit() const { return memory_.limit(); }

 private:
  MemoryBudget memory_;
  std::size_t guaranteed_;
  std::size_t bytes_ = 0;
};

// There is no memory for what was asked: the budget is used up, or the system gives none.
inline RpcError no_memory() {
  const std::string name(name_of(Limit::kMemory));
  return {ErrorCode::kQueueFull, "the memory for requests and answers (" + name + ") is used up; try again later",
          Json{{"setting", name}}};
}

}  // namespace rkllm_mcp
