#include "client/mcp/inbox.hpp"

#include <utility>

namespace rkllm_mcp::client {

void Inbox::put(std::string message) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return failure_ || !is_full(); });
  if (failure_) return;
  const std::size_t size = message.size();
  messages_.push_back(std::move(message));
  bytes_ += size;
  changed_.notify_all();
}

std::optional<std::string> Inbox::take(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return failure_ || !messages_.empty(); });
  if (messages_.empty()) {
    if (failure_) failure_->raise();
    return std::nullopt;
  }
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  bytes_ -= message.size();
  changed_.notify_all();
  return message;
}

void Inbox::fail(Loss loss) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(loss);
  changed_.notify_all();
}

bool Inbox::has_failed() const {
  const std::lock_guard lock(mutex_);
  return failure_.has_value();
}

void Inbox::throw_if_failed() const {
  const std::lock_guard lock(mutex_);
  if (failure_) failure_->raise();
}

}  // namespace rkllm_mcp::client
