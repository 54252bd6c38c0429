// Hidden states and logits that are too long for an answer: kept for a while, so that their client can fetch them in
// pieces. Bounded in number, in time, and by a quarter of the memory budget. When full, the oldest entry of the client
// holding most is dropped, never one of a client holding less than the newcomer.
//
// Threads: belongs to the event loop.
#pragma once

#include "backend.hpp"
#include "clock.hpp"
#include "deadline.hpp"
#include "memory_budget.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class ValueStore {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::minutes kKeptFor{10};

  ValueStore(asio::io_context& loop, const MemoryBudget& memory, std::chrono::milliseconds kept_for = kKeptFor)
      : kept_for_(kept_for),
        memory_(memory.exists() ? MemoryBudget(memory.limit() / 4, memory) : MemoryBudget()),
        expiry_(loop, [this] { forget_expired(); }) {}

  // Keeps all sets of one answer, or none. Returns an id for each set, in the same order, by which a client fetches it;
  // nobody can guess an id. `owner`: see owner_of(). Throws no_memory() if there is no room for all of them now, and
  // error 4006 if there never is.
  std::vector<std::string> keep(std::vector<ValueRows> sets, const std::string& owner);
  // Null if there are no values with that id, or no longer.
  const ValueRows* find(std::string_view id);

 private:
  struct Kept {
    std::string id;
    ValueRows rows;
    Clock::time_point until;
    MemoryShare share;
    std::string owner;
    bool goes = false;  // chosen to be dropped, while room is being made
  };
  struct Amount {
    std::size_t sets = 0;
    std::size_t bytes = 0;
  };

  void make_room(Amount wanted, const std::string& owner);
  void forget_expired();

  const std::chrono::milliseconds kept_for_;
  const MemoryBudget memory_;
  std::deque<Kept> kept_;  // the oldest in front
  Deadline expiry_;        // when the oldest is forgotten
};

}  // namespace rkllm_mcp
