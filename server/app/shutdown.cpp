#include "app/shutdown.hpp"

#include "call_after.hpp"

#include <chrono>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kBeforeNextLook{5};

}  // namespace

void Shutdown::begin() {
  if (std::exchange(has_begun_, true)) return;
  take_step([this] { begin_step(); });
}

void Shutdown::take_step(const std::function<void()>& action) {
  has_failed_ = true;
  action();
  has_failed_ = false;
}

void Shutdown::begin_step() {
  for (; current_ < steps_.size(); ++current_) {
    const Step& step = steps_[current_];
    if (step.begin) step.begin();
    deadline_ = step.most == Step::kUntilDone ? Clock::time_point::max() : Clock::now() + step.most;
    if (!is_done()) return look_again();
  }
}

void Shutdown::look_again() {
  call_after(loop_, kBeforeNextLook, [this] { take_step([this] { look(); }); });
}

void Shutdown::look() {
  if (!is_done()) return look_again();
  ++current_;
  begin_step();
}

bool Shutdown::is_done() const {
  const auto& done = steps_[current_].is_done;
  return !done || done() || Clock::now() >= deadline_;
}

}  // namespace rkllm_mcp
