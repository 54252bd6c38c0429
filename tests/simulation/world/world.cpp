#include "world.hpp"

#include "random_bytes.hpp"

#include <sys/select.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kFnvPrime = 1099511628211ULL;
// One of these passes when nothing else can happen: nothing to speak of, or what makes time-outs meet what they are
// about.
constexpr milliseconds kPauses[] = {milliseconds(1), milliseconds(100), milliseconds(1'000), milliseconds(9'999),
                                    milliseconds(30'000)};

// The same for each schedule: what is random in ids and masks is not what a schedule is about.
std::mt19937_64& random_bytes_of_schedule() {
  static std::mt19937_64 random;
  return random;
}

// How many there are below `count`.
int descriptors_in(const fd_set* set, int count) {
  int found = 0;
  for (int i = 0; set != nullptr && i < count; ++i) found += FD_ISSET(i, set) ? 1 : 0;
  return found;
}

}  // namespace

// asio asks the system in each pass of the loop, mostly about the one descriptor by which it would wake itself: nobody
// does so here, where nothing waits. These were most system calls of a schedule. The linker puts this in the place of
// select().
extern "C" int __real_select(int count, fd_set* read, fd_set* write, fd_set* failed, timeval* timeout);
extern "C" int __wrap_select(int count, fd_set* read, fd_set* write, fd_set* failed, timeval* timeout) {
  if (descriptors_in(read, count) + descriptors_in(write, count) + descriptors_in(failed, count) > 1) {
    return __real_select(count, read, write, failed, timeout);
  }
  if (read != nullptr) FD_ZERO(read);
  return 0;
}

World::World(Choices& choices) : choices_(choices), threads_(choices) {
  Clock::passed = std::chrono::hours(1);
  random_bytes_of_schedule() = std::mt19937_64();
}

std::set<std::string, std::less<>>& World::seen() {
  static std::set<std::string, std::less<>> seen;
  return seen;
}

void World::saw(const Counts& counts) {
  for (std::size_t limit = 0; limit < kLimitCount; ++limit) {
    if (counts.reached[limit] > 0) saw("the limit of " + std::string(name_of(static_cast<Limit>(limit))));
  }
}

void World::may_happen(std::string name, Action action) { events_.push_back({std::move(name), std::move(action)}); }

void World::before_each_step(std::weak_ptr<void> owner, Action look) {
  lookers_.emplace_back(std::move(owner), std::move(look));
}

void World::violates(std::string what, Place complains) {
  if (!violation_) violation_.emplace(std::move(what), complains);
}

void World::note(std::string_view bytes) { trace_ = (trace_ ^ std::hash<std::string_view>()(bytes)) * kFnvPrime; }

void World::tell(std::string line) {
  note(line);
  constexpr std::string_view kPass = " ms pass";
  const auto is_pass = [kPass](const std::string& told) {
    return told.size() > kPass.size() && told.compare(told.size() - kPass.size(), kPass.size(), kPass) == 0;
  };
  // Of time that passes and passes one line is enough.
  if (!story_.empty() && is_pass(story_.back()) && is_pass(line)) {
    story_.back() = std::to_string(std::stoll(story_.back()) + std::stoll(line)) + std::string(kPass);
    story_hashes_.back() = trace_;
    return;
  }
  story_.push_back(std::move(line));
  story_hashes_.push_back(trace_);
  if (story_.size() <= kStoryLines || keeps_whole_story_) return;
  story_.pop_front();
  story_hashes_.pop_front();
}

void World::step() {
  for (const auto& [owner, look] : lookers_) {
    if (const auto alive = owner.lock()) look();
  }
  if (!has_events() || choices_.happens(12)) {
    const auto pause = kPauses[choices_.choose(std::size(kPauses))];
    Clock::passed += pause;
    tell(std::to_string(pause.count()) + " ms pass");
  }
  ready_.swap(events_);
  let_happen();
  threads_.step();
  turn();
  if (violation_) throw Violation(*std::exchange(violation_, std::nullopt));
}

void World::let_happen() {
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    // Half of them wait; with harmless choices none does.
    if (choices_.happens(2)) {
      events_.push_back(std::move(ready_[i]));
      continue;
    }
    tell(std::move(ready_[i].name));
    try {
      std::exchange(ready_[i].action, {})();
    } catch (...) {
      // What was not reached can still happen while what the schedule has left ends.
      std::move(ready_.begin() + static_cast<std::ptrdiff_t>(i) + 1, ready_.end(), std::back_inserter(events_));
      ready_.clear();
      throw;
    }
  }
  ready_.clear();
}

void World::pass(Clock::duration time) {
  Clock::passed += time;
  turn();
}

bool World::go_on() {
  if (!events_.empty()) {
    ready_.swap(events_);
    let_happen();
  } else if (threads_.any_can_go_on()) {
    threads_.step();
  } else {
    loop_.restart();
    if (loop_.poll_one() == 0) return false;
  }
  if (violation_) throw Violation(*std::exchange(violation_, std::nullopt));
  return true;
}

void World::let_threads_go_on() {
  while (threads_.any_can_go_on()) threads_.step();
}

void World::turn() {
  loop_.restart();
  loop_.poll();
}

}  // namespace rkllm_mcp::simulation

namespace rkllm_mcp {

void fill_with_simulated(unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<unsigned char>(simulation::random_bytes_of_schedule()());
  }
}

}  // namespace rkllm_mcp
