#include "cli/input_lines.hpp"

#include "clock.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLongestInputLine = std::size_t{256} << 20U;

constexpr std::chrono::milliseconds kSilence{1000};

// Whether there is something to read, or the end of it.
bool comes_within(std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  for (;;) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (count < 0 && errno == EINTR) continue;  // it was stopped and goes on (Ctrl-Z, fg)
    return count != 0;
  }
}

}  // namespace

InputLines::InputLines() : wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wakeup_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

InputLines::~InputLines() { ::close(wakeup_); }

InputLines::Event InputLines::next(std::chrono::milliseconds patience, std::string& line) {
  for (;;) {
    if (take_line(line)) return Event::kLine;
    if (ended_) return Event::kEnd;
    std::array<pollfd, 2> ready{pollfd{wakeup_, POLLIN, 0}, pollfd{STDIN_FILENO, POLLIN, 0}};
    const int count = ::poll(ready.data(), ready.size(), static_cast<int>(patience.count()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "poll");
    if (count == 0) return Event::kSilence;
    if (ready[0].revents != 0) return Event::kWoken;
    fill();
  }
}

void InputLines::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wakeup_, &one, sizeof one);
}

void InputLines::forget_wakeup() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(wakeup_, &count, sizeof count);
}

bool InputLines::take_line(std::string& line) {
  const auto end = text_.find('\n', searched_);
  if (end == std::string::npos && !(ended_ && taken_ < text_.size())) {
    text_.erase(0, std::exchange(taken_, 0));
    searched_ = text_.size();
    return false;
  }
  const auto stop = std::min(end, text_.size());  // the last line may have no end
  line = text_.substr(taken_, stop - taken_);
  taken_ = searched_ = std::min(stop + 1, text_.size());
  return true;
}

void InputLines::fill() {
  std::array<char, 65536> bytes = {};  // GCC 11 takes them for uninitialised else
  const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  if (count <= 0) {
    ended_ = true;
    return;
  }
  text_.append(bytes.data(), static_cast<std::size_t>(count));
  if (text_.size() > kLongestInputLine) throw std::runtime_error("a line of standard input is too long");
}

std::string piped_input(const std::string& what, PipedInput wish, std::chrono::milliseconds patience) {
  const auto silence = std::min(kSilence, patience);
  if (!comes_within(silence)) {
    std::fprintf(stderr,
                 "rkllm-mcp: waiting for %s on standard input; Ctrl-D ends it, and < /dev/null says that none come\n",
                 what.c_str());
    if (wish == PipedInput::kMayBeNone && !comes_within(patience - silence)) {
      throw std::invalid_argument(
          "nothing came on standard input; < /dev/null says that nothing comes, - waits for ever");
    }
  }
  std::string text;
  std::array<char, 4096> bytes = {};
  for (;;) {
    const auto count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace rkllm_mcp
