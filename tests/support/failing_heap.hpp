// Memory that runs out at a chosen place: for tests that nothing is left half made then.
#pragma once

#include <new>

namespace rkllm_mcp::test {

// While it lives, the allocation with this number (from 0) that its thread makes fails, and only that one.
class FailingAllocation {
 public:
  explicit FailingAllocation(int number);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
  bool is_to_come() const;  // the thread has not made so many yet
};

// Calls `attempt` with the first allocation failing, then the second, and so on, until it has made fewer. Each time
// `check` is called afterwards, with enough memory; its argument says whether bad_alloc came out of `attempt`.
template <class Attempt, class Check>
void at_each_allocation(Attempt attempt, Check check) {
  for (int number = 0;; ++number) {
    bool is_over = false;
    bool has_thrown = false;
    try {
      const FailingAllocation failing(number);
      attempt();
      is_over = failing.is_to_come();
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    check(has_thrown);
    if (is_over) return;
  }
}

}  // namespace rkllm_mcp::test
