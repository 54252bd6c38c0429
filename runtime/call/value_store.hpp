// Hidden states and logits that are too long for an answer: kept for a while, so that their client can fetch them in
// pieces. Bounded in number, in time, and by the memory budget; the oldest make room.
//
// Threads: belongs to the event loop.
#pragma once

#include "backend.hpp"
#include "memory_budget.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class ValueStore {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::minutes kKeptFor{10};

  explicit ValueStore(std::shared_ptr<MemoryBudget> memory) : memory_(std::move(memory)) {}

  // Gives the id to fetch them by, which nobody can guess. Throws no_memory() if there is no room for them.
  std::string keep(ValueRows rows);
  // Null if there are none of that id, or none any more.
  const ValueRows* find(std::string_view id);

 private:
  using Clock = std::chrono::steady_clock;
  struct Kept {
    std::string id;
    ValueRows rows;
    Clock::time_point until;
    MemoryShare share;
  };

  void forget_expired();

  const std::shared_ptr<MemoryBudget> memory_;
  std::deque<Kept> kept_;  // the oldest in front
};

}  // namespace rkllm_mcp
