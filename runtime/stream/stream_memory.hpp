// The memory that all streams share: what waits in them for their clients, what is gathered for one answer, and what
// datagram streams retain. A stream takes its share as it grows and gives it back as it shrinks.
//
// When it is used up, everybody still has a little: who fills it must not silence the others.
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace rkllm_mcp {

class StreamMemory {
 public:
  explicit StreamMemory(std::size_t limit) : limit_(limit) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  std::size_t limit() const { return limit_; }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  bool has_room(std::size_t bytes) const { return used() + bytes <= limit_; }

 private:
  friend class MemoryShare;
  void change(std::size_t from, std::size_t to) { used_.fetch_add(to - from, std::memory_order_relaxed); }

  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

// What one holder has taken of it; given back with the share's end. Of a null memory: nothing is counted.
class MemoryShare {
 public:
  explicit MemoryShare(std::shared_ptr<StreamMemory> memory) : memory_(std::move(memory)) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare() { set(0); }

  // Bytes that each share may hold whatever the others do.
  static constexpr std::size_t kGuaranteed = std::size_t{64} << 10U;

  // It holds so many bytes from now on, whether there is room or not: ask has_room_for() first where that matters.
  void set(std::size_t bytes) {
    if (memory_) memory_->change(bytes_, bytes);
    bytes_ = bytes;
  }
  bool has_room_for(std::size_t more) const {
    return !memory_ || bytes_ + more <= kGuaranteed || memory_->has_room(more);
  }
  std::size_t bytes() const { return bytes_; }
  std::size_t limit() const { return memory_ ? memory_->limit() : static_cast<std::size_t>(-1); }

 private:
  const std::shared_ptr<StreamMemory> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace rkllm_mcp
