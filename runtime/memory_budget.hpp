// The memory that what comes from clients, waits for them, or is kept for them may take: unfinished input, requests
// that wait, streams, answers. Whoever holds something takes a share, which grows and shrinks with it.
//
// A budget may be part of another one, whose room it then uses up as well: that of all streams is part of the server's.
// When it is used up, every share still has a little: who fills it must not silence the others.
//
// Threads: any.
#pragma once

#include <rkllm_mcp/errors.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit, std::shared_ptr<MemoryBudget> whole = {})
      : limit_(limit), whole_(std::move(whole)) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  // Whether `bytes` more fit. `given_back`: bytes of what is used that count as free, since they are about to be.
  bool has_room(std::size_t bytes, std::size_t given_back = 0) const {
    return has_room_in_its_part(bytes, given_back) && (!whole_ || whole_->has_room(bytes, given_back));
  }
  // The same for this budget alone, whatever room the budget has that it is part of.
  bool has_room_in_its_part(std::size_t bytes, std::size_t given_back = 0) const {
    const std::size_t now = used();
    const std::size_t taken = now - (given_back < now ? given_back : now);
    return taken <= limit_ && bytes <= limit_ - taken;
  }

 private:
  friend class MemoryShare;
  void change(std::size_t from, std::size_t to) {
    used_.fetch_add(to - from, std::memory_order_relaxed);
    if (whole_) whole_->change(from, to);
  }

  const std::size_t limit_;
  const std::shared_ptr<MemoryBudget> whole_;  // null: it is part of no other
  std::atomic<std::size_t> used_{0};
};

// What one holder has taken of a budget, given back when the share is destroyed. Without a budget (null) there is
// always room.
class MemoryShare {
 public:
  // Bytes that each share may hold whatever the others do.
  static constexpr std::size_t kGuaranteed = std::size_t{64} << 10U;

  explicit MemoryShare(std::shared_ptr<MemoryBudget> memory = {}, std::size_t guaranteed = kGuaranteed)
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
    if (memory_) memory_->change(bytes_, bytes);
    bytes_ = bytes;
  }
  bool has_room_for(std::size_t more) const {
    return !memory_ || bytes_ + more <= guaranteed_ || memory_->has_room(more);
  }
  // Whether it is the part that lacks room for them, and not the whole that it is part of.
  bool fills_its_part(std::size_t more) const { return memory_ && !memory_->has_room_in_its_part(more); }
  // Takes so many bytes more; false if there is no room for them.
  bool grow(std::size_t more) {
    if (!has_room_for(more)) return false;
    set(bytes_ + more);
    return true;
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t limit() const { return memory_ ? memory_->limit() : static_cast<std::size_t>(-1); }

 private:
  std::shared_ptr<MemoryBudget> memory_;
  std::size_t guaranteed_;
  std::size_t bytes_ = 0;
};

// There is no memory for what was asked: the budget is used up, or the system gives none.
inline RpcError no_memory() {
  return {ErrorCode::kQueueFull,
          "the memory for requests and answers (limits.memory_bytes) is used up; try again later",
          Json{{"setting", "limits.memory_bytes"}}};
}

}  // namespace rkllm_mcp
