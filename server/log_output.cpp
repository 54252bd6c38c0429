#include "log_output.hpp"

#include "clock.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kBetweenLooks = 20;  // ms
constexpr mode_t kMode = 0644;

bool can_be_written_to(int descriptor, int patience) {
  pollfd state{descriptor, POLLOUT, 0};
  return ::poll(&state, 1, patience) > 0;
}

}  // namespace

// A pipe or a terminal is opened once more: O_NONBLOCK belongs to that opening alone, and not to whoever else has
// standard error. Where that is not allowed (another user's pipe) it is asked before each write whether it has room.
LogOutput LogOutput::standard_error() {
  struct stat status {};
  const bool is_known = ::fstat(STDERR_FILENO, &status) == 0;
  if (is_known && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
    const int own = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) return {own, Kind::kNeverWaits};
  }
  const int copy =
      ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);  // -1, if there is no descriptor left: every line is lost
  if (is_known && S_ISSOCK(status.st_mode)) return {copy, Kind::kSocket};
  return {copy, is_known && !S_ISREG(status.st_mode) ? Kind::kAsk : Kind::kNeverWaits};
}

LogOutput::LogOutput(const std::string& file)
    : descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kMode)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), file);
}

LogOutput::LogOutput(LogOutput&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), kind_(other.kind_), rest_(std::move(other.rest_)) {}

LogOutput& LogOutput::operator=(LogOutput&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  kind_ = other.kind_;
  rest_ = std::move(other.rest_);
  return *this;
}

LogOutput::~LogOutput() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int LogOutput::write(std::string_view line, const std::function<bool()>& may_wait) {
  std::string_view rest = rest_;
  const int earlier = push(rest, may_wait);
  rest_.erase(0, rest_.size() - rest.size());
  if (earlier != 0) return earlier;
  std::string_view left = line;
  const int error = push(left, may_wait);
  if (left.size() == line.size()) return error;
  rest_ = left;
  return 0;
}

int LogOutput::push(std::string_view& text, const std::function<bool()>& may_wait) const {
  while (!text.empty()) {
    const long count = write_some(text);
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      if (!may_wait()) return EAGAIN;
      can_be_written_to(descriptor_, kBetweenLooks);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

long LogOutput::write_some(std::string_view text) const {
  switch (kind_) {
    case Kind::kNeverWaits: return ::write(descriptor_, text.data(), text.size());
    case Kind::kSocket: return ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::kAsk: break;
  }
  if (!can_be_written_to(descriptor_, 0)) {
    errno = EAGAIN;
    return -1;
  }
  // A pipe that has room at all has room for so much.
  return ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

void say_on_standard_error(std::string_view line) {
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  LogOutput::standard_error().write(std::string(line) + "\n", [deadline] { return Clock::now() < deadline; });
}

}  // namespace rkllm_mcp
