#include "transport/bytes/writable.hpp"

#include <exception>
#include <utility>

namespace rkllm_mcp {
namespace {

// Runs all of them, also when one throws; then throws again what was thrown last.
void run(const std::vector<std::function<void()>>& actions) {
  std::exception_ptr fault;
  for (const auto& action : actions) {
    try {
      action();
    } catch (...) {
      fault = std::current_exception();
    }
  }
  if (fault) std::rethrow_exception(fault);
}

}  // namespace

void Writable::when_closed(std::function<void()> action) {
  if (closed()) return action();
  closed_actions_.push_back(std::move(action));
}

void Writable::became_ready() {
  // Actions may register new ones, which wait for the next time.
  run(std::exchange(ready_actions_, {}));
}

void Writable::became_closed() {
  ready_actions_.clear();
  run(std::exchange(closed_actions_, {}));
}

}  // namespace rkllm_mcp
