#include "worker/worker_log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestLine = 4096;  // what is beyond becomes a line of its own
constexpr std::size_t kErrorsKept = 8;
constexpr int kRoundsAtOnce = 64;  // others who want the lock get their turn

}  // namespace

WorkerLog::WorkerLog(Descriptor pipe, LineFunction line) : pipe_(std::move(pipe)), line_(std::move(line)) {
  ::fcntl(pipe_.number(), F_SETFL, O_NONBLOCK);
}

WorkerLog::Read WorkerLog::read() {
  const std::lock_guard lock(mutex_);
  std::array<char, 4096> bytes;
  for (int rounds = 0; rounds < kRoundsAtOnce; ++rounds) {
    const ssize_t size = ::read(pipe_.number(), bytes.data(), bytes.size());
    if (size > 0) {
      take({bytes.data(), static_cast<std::size_t>(size)});
    } else if (size == 0) {
      if (!partial_.empty()) finish_line();
      return Read::kEnd;
    } else if (errno != EINTR) {
      return errno == EAGAIN ? Read::kAll : Read::kEnd;
    }
  }
  return Read::kMore;
}

void WorkerLog::wait(std::chrono::milliseconds patience) const {
  pollfd wanted{pipe_.number(), POLLIN, 0};
  ::poll(&wanted, 1, static_cast<int>(patience.count()));
}

void WorkerLog::take(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte == '\n' || partial_.size() == kLongestLine) finish_line();
    // Nothing that would break a line of a log, or speak to a terminal.
    const bool is_control = static_cast<unsigned char>(byte) < 0x20 || byte == 0x7F;
    if (byte != '\n') partial_ += is_control && byte != '\t' ? '?' : byte;
  }
}

void WorkerLog::finish_line() {
  ++count_;
  if (partial_.starts_with("E ")) {
    errors_.push_back({count_, partial_});
    if (errors_.size() > kErrorsKept) errors_.pop_front();
  }
  if (!partial_.empty()) line_(partial_);
  partial_.clear();
}

std::vector<std::string> WorkerLog::errors_since(std::uint64_t lines) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (const ErrorLine& error : errors_) {
    if (error.number > lines) texts.push_back(error.text);
  }
  return texts;
}

}  // namespace rkllm_mcp
