#include "log_sink.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace rkllm_mcp {

void LogSink::move_to(LogOutput output) {
  const std::lock_guard lock(moving_);
  next_.emplace(std::move(output));
}

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  {
    const std::lock_guard lock(moving_);
    if (next_) output_ = std::move(*next_);
    next_.reset();
  }
  spdlog::memory_buf_t text;
  formatter_->format(message, text);
  tail_.add({text.data(), text.size()});  // first: to write may take long, or fail
  tell_of_losses();
  if (!write({text.data(), text.size()})) ++unwritten_;
}

bool LogSink::write(std::string_view line) {
  const int error = output_.write(line, [this] { return Clock::now().time_since_epoch() < deadline_.load(); });
  if (error != 0) error_ = error;
  return error == 0;
}

void LogSink::tell_of_losses() {
  const std::uint64_t lost = this->lost();
  if (lost == told_) return;
  const std::string words = std::to_string(lost - told_) + " lines of this log were lost: " +
                            (error_ == 0 || error_ == EAGAIN ? "nobody read it" : std::strerror(error_));
  spdlog::memory_buf_t text;
  formatter_->format({"rkllm-mcp", spdlog::level::warn, words}, text);
  if (!write({text.data(), text.size()})) return;
  told_ = lost;
  error_ = 0;
}

}  // namespace rkllm_mcp
