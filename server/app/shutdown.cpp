#include "app/shutdown.hpp"

#include <asio/error_code.hpp>

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
  try {
    action();
  } catch (...) {
    has_failed_ = true;
    throw;
  }
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
  next_look_.expires_after(kBeforeNextLook);
  next_look_.async_wait([this](const asio::error_code& error) {
    if (!error) take_step([this] { look(); });
  });
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
