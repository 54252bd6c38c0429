// All threads of the simulated server in one: each has a stack of its own, and goes on when the schedule lets it. It
// gives way where it waits, and now and then before it takes a lock (runtime/thread.hpp). The loop's own thread is none
// of them, though it has such a stack as well: when it has to wait for a lock, the others go on until it has it.
#pragma once

#include "choices.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <vector>

namespace rkllm_mcp::simulation {

class SimThreads {
 public:
  explicit SimThreads(Choices& choices);
  SimThreads(const SimThreads&) = delete;
  SimThreads& operator=(const SimThreads&) = delete;
  ~SimThreads();  // who still waits then never goes on

  // Runs `work` as the loop's own thread; throws what it throws. If that waits and no thread can go on, a Violation is
  // thrown, and `work` stays where it is for ever: it may be in a destructor, which cannot throw.
  void run_loop(std::function<void()> work);
  // Whether that has happened. What `work` refers to must then stay, too.
  bool is_loop_stuck() const { return is_loop_stuck_; }

  // `has_ended` becomes true when `work` has ended.
  void start(std::function<void()> work, std::shared_ptr<bool> has_ended);
  // Whoever calls this goes on when `is_so()`, which is asked again and again. Outside of run_loop() a Violation is
  // thrown if no thread can go on.
  void wait(std::function<bool()> is_so);
  // Whoever calls this lets others go on, if the schedule wants that.
  void perhaps_give_way();

  bool any_can_go_on() const;
  // Each that can go on does until it waits, or is put off. Throws what one of them has thrown.
  void step();
  std::size_t count() const { return threads_.size(); }
  bool is_on_loop() const { return running_ == nullptr; }

  // Of the system's memory, not of the heap that is counted (sim_heap.hpp).
  struct FreeStack {
    void operator()(char* stack) const { std::free(stack); }
  };
  using Stack = std::unique_ptr<char[], FreeStack>;

  // The object whose code runs now. There is one for each World.
  static inline SimThreads* current = nullptr;

 private:
  struct SimThread;

  static void prepare(SimThread& thread, std::vector<Stack>& spare, std::size_t bytes);
  void go_on(SimThread& thread);
  void go_back();
  bool let_one_go_on();
  static void run();

  Choices& choices_;
  std::vector<std::unique_ptr<SimThread>> threads_;  // in the order in which they were started
  SimThread* running_ = nullptr;                     // null: the loop's own
  const std::unique_ptr<SimThread> outside_;         // the real thread, on which all of them run
  const std::unique_ptr<SimThread> loop_;
  bool is_loop_stuck_ = false;
  std::exception_ptr failure_;
};

}  // namespace rkllm_mcp::simulation
