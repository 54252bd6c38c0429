#include "world.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kStoryLines = 60;
// One of these passes when nothing else can happen: nothing to speak of, or what makes time-outs meet what they are
// about.
constexpr milliseconds kPauses[] = {milliseconds(1), milliseconds(100), milliseconds(1'000), milliseconds(9'999),
                                    milliseconds(30'000)};

}  // namespace

World::World(Choices& choices) : choices_(choices), threads_(choices) { Clock::passed = std::chrono::hours(1); }

std::set<std::string, std::less<>>& World::seen() {
  static std::set<std::string, std::less<>> seen;
  return seen;
}

void World::may_happen(std::string name, Action action) { events_.push_back({std::move(name), std::move(action)}); }

void World::before_each_step(std::weak_ptr<void> owner, Action look) {
  lookers_.emplace_back(std::move(owner), std::move(look));
}

void World::violates(std::string what) {
  if (violation_.empty()) violation_ = std::move(what);
}

void World::tell(std::string line) {
  for (const char byte : line) trace_ = (trace_ ^ static_cast<unsigned char>(byte)) * 1099511628211ULL;
  constexpr std::string_view kPass = " ms pass";
  const auto is_pass = [kPass](const std::string& told) {
    return told.size() > kPass.size() && told.compare(told.size() - kPass.size(), kPass.size(), kPass) == 0;
  };
  // Of time that passes and passes one line is enough.
  if (!story_.empty() && is_pass(story_.back()) && is_pass(line)) {
    story_.back() = std::to_string(std::stoll(story_.back()) + std::stoll(line)) + std::string(kPass);
    return;
  }
  story_.push_back(std::move(line));
  if (story_.size() > kStoryLines) story_.pop_front();
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
  let_happen(std::exchange(events_, {}));
  threads_.step();
  turn();
  if (!violation_.empty()) throw Violation{std::exchange(violation_, {})};
}

void World::let_happen(std::vector<Event> ready) {
  for (std::size_t i = 0; i < ready.size(); ++i) {
    // Half of them wait; with harmless choices none does.
    if (choices_.happens(2)) {
      events_.push_back(std::move(ready[i]));
      continue;
    }
    tell(ready[i].name);
    try {
      ready[i].action();
    } catch (...) {
      // What was not reached can still happen while what the schedule has left ends.
      std::move(ready.begin() + static_cast<std::ptrdiff_t>(i) + 1, ready.end(), std::back_inserter(events_));
      throw;
    }
  }
}

void World::pass(Clock::duration time) {
  Clock::passed += time;
  turn();
}

void World::turn() {
  loop_.restart();
  loop_.poll();
}

}  // namespace rkllm_mcp::simulation
