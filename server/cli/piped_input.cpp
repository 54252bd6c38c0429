#include "cli/piped_input.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace rkllm_mcp {

std::string piped_input(const std::string& what, PipedInput wish) {
  constexpr int kSilenceMs = 1000;
  constexpr int kPatienceMs = 4000;
  pollfd ready{STDIN_FILENO, POLLIN, 0};
  if (::poll(&ready, 1, kSilenceMs) == 0) {
    std::fprintf(stderr,
                 "rkllm-mcp: waiting for %s on standard input; Ctrl-D ends it, and < /dev/null says that none come\n",
                 what.c_str());
    if (wish == PipedInput::kMayBeNone && ::poll(&ready, 1, kPatienceMs) == 0) {
      std::fprintf(stderr, "rkllm-mcp: nothing came, going on without; - in its place waits longer\n");
      return {};
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
