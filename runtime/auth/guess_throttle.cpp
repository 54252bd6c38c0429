#include "auth/guess_throttle.hpp"

#include "auth/owner.hpp"

#include <algorithm>
#include <iterator>

namespace rkllm_mcp {

GuessThrottle::Pause GuessThrottle::failed(std::string_view peer, Clock::time_point now) {
  return pause_after(count_one(source_of(peer), now).count);
}

GuessThrottle::Pause GuessThrottle::line_up(std::string_view peer, Clock::time_point now) {
  const bool is_refused_at_once = is_full(peer, now);
  Failures& failures = count_one(source_of(peer), now);
  const Pause pause = pause_after(failures.count);
  if (is_refused_at_once || pause.count() == 0) return Pause(0);
  failures.line.push_back((failures.line.empty() ? now : failures.line.back()) + pause);
  return std::chrono::duration_cast<Pause>(failures.line.back() - now);
}

bool GuessThrottle::is_full(std::string_view peer, Clock::time_point now) {
  const auto known = failures_.find(source_of(peer));
  if (known == failures_.end()) return false;
  auto& line = known->second.line;
  while (!line.empty() && line.front() <= now) line.pop_front();
  return line.size() >= kMostWaiting;
}

GuessThrottle::Failures& GuessThrottle::count_one(const std::string& source, Clock::time_point now) {
  if (failures_.count(source) == 0 && failures_.size() >= kMost) make_room(now);
  Failures& failures = failures_[source];
  if (now - failures.last > kForgotten) failures.count = 0;
  failures.last = now;
  ++failures.count;
  return failures;
}

GuessThrottle::Pause GuessThrottle::pause_after(unsigned count) {
  if (count <= kFree) return Pause(0);
  constexpr unsigned kMostDoublings = 5;
  return std::min(kFirst * (1U << std::min(count - kFree - 1, kMostDoublings)), kLongest);
}

void GuessThrottle::make_room(Clock::time_point now) {
  for (auto each = failures_.begin(); each != failures_.end();) {
    each = now - each->second.last > kForgotten ? failures_.erase(each) : std::next(each);
  }
  if (failures_.size() < kMost) return;
  failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                   [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace rkllm_mcp
