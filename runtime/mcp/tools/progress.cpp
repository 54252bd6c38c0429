#include "mcp/tools/progress.hpp"

#include <cmath>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

constexpr std::chrono::milliseconds kBetweenStatuses{200};
constexpr std::chrono::seconds kLongestSilence{10};
// How much a notification without a new token adds: values must increase, and must stay below the next token.
constexpr double kKeepAliveStep = 1.0 / 1024;

}  // namespace

Progress::Progress(asio::io_context& loop, Invocation& invocation, ProgressMessage message)
    : invocation_(invocation.shared_from_this()), message_(message), timer_(loop) {}

std::shared_ptr<Progress> Progress::start(asio::io_context& loop, Invocation& invocation, ProgressMessage message) {
  auto progress = std::make_shared<Progress>(loop, invocation, message);
  progress->send(message == ProgressMessage::kStatus ? "started" : "");
  progress->keep_alive(progress->last_sent_);
  return progress;
}

void Progress::update(const CollectReader::Step& step) {
  const std::string_view delta = step.delta;
  tokens_ = step.tokens;
  token_limit_ = step.token_limit;
  if (step.queue_position && message_ == ProgressMessage::kStatus) queue_position_ = step.queue_position;
  if (queue_position_ && invocation_->ready()) tell_queue_position(*std::exchange(queue_position_, std::nullopt));
  switch (message_) {
    case ProgressMessage::kStatus:
      if (Clock::now() - last_sent_ >= kBetweenStatuses && invocation_->ready()) send_status();
      return;
    case ProgressMessage::kDelta:
      unsent_ += delta;
      if (!unsent_.empty() && invocation_->ready()) send(std::exchange(unsent_, {}));
      return;
    case ProgressMessage::kText:
      text_ += delta;
      if (!delta.empty() && invocation_->ready()) send(text_);
      return;
  }
}

void Progress::tell_queue_position(std::size_t calls_before) {
  if (calls_before == 0) return send("begins");
  send("waits: " + std::to_string(calls_before) + (calls_before == 1 ? " call goes first" : " calls go first"));
}

void Progress::send_status() {
  const double seconds = seconds_between(started_, Clock::now());
  const auto rate = static_cast<std::uint64_t>(std::llround(static_cast<double>(tokens_) / std::max(seconds, 0.001)));
  send(std::to_string(tokens_) + " tokens, " + std::to_string(rate) + " tok/s");
}

void Progress::send(std::string_view message) {
  const auto tokens = static_cast<double>(tokens_);
  Json params{{"progressToken", invocation_->progress_token()}};
  if (tokens > progress_) {
    progress_ = tokens;
    params["progress"] = tokens_;
  } else {
    progress_ += kKeepAliveStep;
    params["progress"] = progress_;
  }
  if (token_limit_ >= tokens_ && token_limit_ > 0) params["total"] = token_limit_;
  if (!message.empty()) params["message"] = message;
  last_sent_ = Clock::now();
  invocation_->notify("notifications/progress", params);
}

void Progress::break_silence() {
  if (queue_position_) return tell_queue_position(*std::exchange(queue_position_, std::nullopt));
  message_ == ProgressMessage::kStatus ? send_status() : send("");
}

void Progress::keep_alive(Clock::time_point silent_since) {
  timer_.expires_at(silent_since + kLongestSilence);
  timer_.async_wait([weak = weak_from_this()](const asio::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const auto now = Clock::now();
    const bool is_due = now - self->last_sent_ >= kLongestSilence;
    if (is_due && self->invocation_->ready()) self->break_silence();
    self->keep_alive(is_due ? now : self->last_sent_);
  });
}

void Progress::stop() { timer_.cancel(); }

}  // namespace rkllm_mcp::mcp
