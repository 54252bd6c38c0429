#include "auth/guess_throttle.hpp"

#include "auth/owner.hpp"

#include <algorithm>
#include <iterator>

namespace rkllm_mcp {
GuessThrottle::Pause GuessThrottle::failed(std::string_view peer, Clock::time_point now) {
  const std::string source = source_of(peer);
  if (failures_.count(source) == 0 && failures_.size() >= kMost) make_room(now);
  Failures& failures = failures_[source];
  if (now - failures.last > kForgotten) failures.count = 0;
  failures.last = now;
  ++failures.count;
  if (failures.count <= kFree) return Pause(0);
  constexpr unsigned kMostDoublings = 5;
  return std::min(kFirst * (1U << std::min(failures.count - kFree - 1, kMostDoublings)), kLongest);
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
