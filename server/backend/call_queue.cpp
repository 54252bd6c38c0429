#include "backend/call_queue.hpp"

#include "faults.hpp"

#include <algorithm>
#include <mutex>

namespace rkllm_mcp {

CallQueue::~CallQueue() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void CallQueue::start(std::function<void()> make_next) {
  thread_ = Thread([this, make_next = std::move(make_next)] { work(make_next); });
}

void CallQueue::work(const std::function<void()>& make_next) {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return ending_ || !makeable().empty(); });
      if (ending_) return;  // no call is left: each keeps its handle
    }
    make_next();
  }
}

std::deque<std::shared_ptr<QueuedCall>>& CallQueue::makeable() {
  const bool is_leased = holder_ && !has_fault("a model that is leased serves others");
  return is_leased ? holder_->leased : waiting_;
}

void CallQueue::add(QueuedCall& call) {
  if (call.lease) {
    call.lease->leased.push_back(call.shared_from_this());
  } else {
    waiting_.push_back(call.shared_from_this());
    tell_positions(waiting_.size() - 1);
  }
  news_.notify_one();
}

void CallQueue::remove(const QueuedCall& call) {
  const auto is_it = [&call](const auto& each) { return each.get() == &call; };
  if (call.lease) {
    std::erase_if(call.lease->leased, is_it);
    return;
  }
  const auto found = std::ranges::find_if(waiting_, is_it);
  const auto place = static_cast<std::size_t>(found - waiting_.begin());
  waiting_.erase(found);
  tell_positions(place);
}

std::shared_ptr<QueuedCall> CallQueue::next() {
  auto& calls = makeable();
  if (calls.empty()) return nullptr;
  if (has_fault("who has come last is served first")) std::swap(calls.front(), calls.back());
  std::shared_ptr<QueuedCall> call = std::move(calls.front());
  calls.pop_front();
  call->state = QueuedCall::State::kRunning;
  return call;
}

void CallQueue::tell_positions(std::size_t from) const {
  if (positions_ == Positions::kUntold) return;
  for (std::size_t place = from; place < waiting_.size(); ++place) {
    const std::size_t calls_before = place + (is_in_use() ? 1 : 0);
    if (calls_before > 0) waiting_[place]->observer().on_queued(calls_before);
  }
}

void CallQueue::release() {
  holder_ = nullptr;
  tell_positions();
  news_.notify_one();
}

}  // namespace rkllm_mcp
