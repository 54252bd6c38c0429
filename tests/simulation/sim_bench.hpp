// What the test of a unit needs of the simulation: an event loop, the threads of runtime/thread.hpp, and time that
// stands still until the test moves it on. All of it happens in the test's own thread while the test waits, in the same
// order each time, and without faults.
#pragma once

#include "simulation/world/choices.hpp"
#include "simulation/world/world.hpp"

#include "clock.hpp"

#include <asio/io_context.hpp>

#include <functional>

namespace rkllm_mcp::simulation {

class SimBench {
 public:
  asio::io_context& loop() { return world_.loop(); }

  // Lets one thing happen after the other until that is so. False if nothing more can happen before time passes.
  bool until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      if (!world_.go_on()) return false;
    }
    return true;
  }
  // Lets happen all that can before time passes: what has not come then does not come by itself.
  void settle() {
    while (world_.go_on()) {
    }
  }
  // Time passes at once: what is due meanwhile happens at its end, as in a process that was stopped.
  void pass(Clock::duration time) {
    world_.pass(time);
    settle();
  }
  // All threads but the loop go on for as long as they can.
  void let_threads_go_on() { world_.let_threads_go_on(); }
  // Whether whoever asks is called by the loop, or is the test itself, and not a thread beside it.
  bool is_on_loop() const { return world_.is_on_loop(); }

 private:
  Choices choices_{Choices::Made{}};
  World world_{choices_};
};

}  // namespace rkllm_mcp::simulation
