#include "transport/writable.hpp"

#include <utility>

namespace rkllm_mcp {

void Writable::when_closed(std::function<void()> action) {
  if (closed()) return action();
  closed_actions_.push_back(std::move(action));
}

void Writable::became_ready() {
  // Actions may register new ones, which wait for the next time.
  const auto actions = std::exchange(ready_actions_, {});
  for (const auto& action : actions) action();
}

void Writable::became_closed() {
  ready_actions_.clear();
  const auto actions = std::exchange(closed_actions_, {});
  for (const auto& action : actions) action();
}

}  // namespace rkllm_mcp
