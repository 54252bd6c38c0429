// One thread, one event loop, time that stands still until it is moved on, and a set of things that may happen next. A
// step lets some of them happen, chosen by the schedule, and then lets the loop do all that follows: so a timer, bytes
// of two clients and a token can meet in one pass of the loop, in any order. Threads of the server's go on in between.
#pragma once

#include "choices.hpp"
#include "sim_threads.hpp"
#include "violation.hpp"

#include "clock.hpp"
#include "counts.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {

class World {
 public:
  using Action = std::function<void()>;

  explicit World(Choices& choices);

  asio::io_context& loop() { return loop_; }
  Choices& choices() { return choices_; }

  // `action` may happen from now on; it does in one of the next steps. `name` is for the story.
  void may_happen(std::string name, Action action);
  // Called at the beginning of each step, for as long as `owner` lives: what may happen has perhaps become more.
  void before_each_step(std::weak_ptr<void> owner, Action look);
  // Some of what may happen, and what threads can do, then one pass of the loop. Before that time passes, if nothing
  // may happen, or now and then. Throws what violates() was told.
  void step();
  // Time passes, and timers see it.
  void pass(Clock::duration time);
  // For the tests of units, in place of steps: something of what can happen while time stands still happens. False if
  // there is nothing.
  bool go_on();
  // All threads but the loop's go on, until none of them can.
  void let_threads_go_on();
  bool is_on_loop() const { return threads_.is_on_loop(); }
  // Runs a schedule of this world; throws what it throws.
  void run(std::function<void()> schedule) { threads_.run_loop(std::move(schedule)); }
  // The loop's thread waits for ever: neither what the schedule has made nor this may be destroyed.
  bool is_stuck() const { return threads_.is_loop_stuck(); }

  bool has_events() const { return !events_.empty() || threads_.any_can_go_on(); }
  // The schedule ends with this at the end of the step. For those who must not throw.
  void violates(std::string what, Place complains = Place::here());

  // Adds a line to the story: what has just happened, in words.
  void tell(std::string line);
  static constexpr std::size_t kStoryLines = 60;
  const std::deque<std::string>& story() const { return story_; }
  // From now on all of it is kept.
  void keep_whole_story() { keeps_whole_story_ = true; }
  // For each line of the story the trace_hash() of that moment: it differs as soon as a client has read something else.
  const std::deque<std::uint64_t>& story_hashes() const { return story_hashes_; }
  // Bytes that a client has read.
  void note(std::string_view bytes);
  // The same for schedules that were the same: whatever has happened, and all that was read.
  std::uint64_t trace_hash() const { return trace_; }

  // What has been seen at least once, over all schedules: faults that occur, limits that are reached.
  static void saw(std::string_view what) { seen().emplace(what); }
  // The limits that somebody has come up against: "the limit of ...".
  static void saw(const Counts& counts);
  static std::set<std::string, std::less<>>& seen();

 private:
  struct Event {
    std::string name;
    Action action;
  };

  void let_happen();  // some of `ready_`
  void turn();

  Choices& choices_;
  SimThreads threads_;
  asio::io_context loop_{ASIO_CONCURRENCY_HINT_UNSAFE};  // there is one thread
  std::vector<std::pair<std::weak_ptr<void>, Action>> lookers_;
  std::optional<Violation> violation_;  // the first one that violates() was told
  std::vector<Event> events_;
  std::vector<Event> ready_;  // those of this step; kept for its memory
  std::deque<std::string> story_;
  std::deque<std::uint64_t> story_hashes_;
  bool keeps_whole_story_ = false;
  std::uint64_t trace_ = 14695981039346656037ULL;  // as FNV-1a, a line at a time
};

}  // namespace rkllm_mcp::simulation
