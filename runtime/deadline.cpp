#include "deadline.hpp"

#include "faults.hpp"

namespace rkllm_mcp {

void Deadline::set_at(Clock::time_point when) {
  state_->when = when;
  if (when < state_->armed) state_->arm();
}

void Deadline::State::arm() {
  armed = kNever;  // if the timer cannot be set, for want of memory, the next deadline tries again
  timer.expires_at(when);
  timer.async_wait([weak = weak_from_this()](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->expired) return;
    self->armed = kNever;
    const bool was_cleared = self->when == kNever;
    if (was_cleared && !has_fault("a deadline that was cleared expires all the same")) return;
    if (!was_cleared && self->when > Clock::now() && !has_fault("a deadline that was moved expires at its old time"))
      return self->arm();
    self->when = kNever;
    // A copy, since the action may destroy the deadline that holds it.
    const auto action = self->expired;
    action();
  });
  armed = when;
}

}  // namespace rkllm_mcp
