// A few threads beside the event loop for work that waits, mostly for the network. The owners of work take turns: an
// owner with much work, or with work that takes long, leaves threads, and places in the queue, to the others.
//
// Threads: submit() and withdraw() from one; the work is done on threads of its own, started as they are needed.
#pragma once

#include "clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp {

class FairThreads {
 public:
  struct Bounds {
    std::size_t threads;  // pieces of work at a time
    std::size_t waiting;  // that wait for a thread
    // One owner's pieces of work at a time, and those that wait for a thread.
    std::size_t threads_of_one;
    std::size_t waiting_of_one;
  };
  // Bounds that give one owner three quarters of each, but at least one.
  static Bounds shared_by_owners(std::size_t threads, std::size_t waiting);

  explicit FairThreads(const Bounds& bounds);
  FairThreads(const FairThreads&) = delete;
  FairThreads& operator=(const FairThreads&) = delete;
  // Does not wait: work under way goes on, and may outlive this. What has not begun is dropped.
  ~FairThreads();

  using Ticket = std::uint64_t;
  // Nothing if too many wait, of all or of this owner (see owner_of()), if there is no thread and none could be
  // started, or after end(). `work` throws nothing.
  std::optional<Ticket> submit(const std::string& owner, std::function<void()> work);
  // Drops a piece of work that has not begun, and all that it holds.
  void withdraw(Ticket ticket);
  // Drops what has not begun, takes no more, and waits for what is under way; false if that takes too long. Any thread.
  bool end(Clock::time_point deadline);

 private:
  struct Shared;  // with the threads, which may outlive this
  const std::shared_ptr<Shared> shared_;
};

}  // namespace rkllm_mcp
