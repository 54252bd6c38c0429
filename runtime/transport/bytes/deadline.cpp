#include "transport/bytes/deadline.hpp"

#include "put_back.hpp"

namespace rkllm_mcp {

void Deadline::set_at(Clock::time_point when) {
  state_->when = when;
  if (when < state_->armed) arm(state_);
}

void Deadline::arm(const std::shared_ptr<State>& state) {
  state->armed = state->when;
  state->timer.expires_at(state->when);
  state->timer.async_wait([weak = std::weak_ptr(state)](const std::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->expired) return;
    self->armed = kNever;
    const bool was_cleared = self->when == kNever;
    if (was_cleared && !is_put_back("a deadline that was cleared expires all the same")) return;
    if (!was_cleared && self->when > Clock::now() && !is_put_back("a deadline that was moved expires at its old time"))
      return arm(self);
    self->when = kNever;
    // A copy, since the action may destroy the deadline that holds it.
    const auto expired = self->expired;
    expired();
  });
}

}  // namespace rkllm_mcp
