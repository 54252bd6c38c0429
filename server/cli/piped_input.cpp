#include "cli/piped_input.hpp"

#include "clock.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

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
