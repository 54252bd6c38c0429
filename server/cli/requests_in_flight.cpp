#include "cli/requests_in_flight.hpp"

#include <utility>

namespace rkllm_mcp {

void RequestsInFlight::note_sent(const client::MessageFacts& facts) {
  const std::lock_guard lock(mutex_);
  ids_.insert(ids_.end(), facts.requests.begin(), facts.requests.end());
  if (!facts.cancels.is_null()) std::erase(ids_, facts.cancels);  // nobody answers it now
  changed_.notify_all();
}

void RequestsInFlight::note_received(const client::MessageFacts& facts) {
  const std::lock_guard lock(mutex_);
  for (const Json& id : facts.answers) std::erase(ids_, id);
  changed_.notify_all();
}

void RequestsInFlight::await_none(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return ids_.empty() || given_up_; });
}

std::vector<Json> RequestsInFlight::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
  return std::exchange(ids_, {});
}

}  // namespace rkllm_mcp
