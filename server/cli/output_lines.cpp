#include "cli/output_lines.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace rkllm_mcp {

bool OutputLines::print(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  for (std::string_view rest = line; !rest.empty();) {
    const auto count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace rkllm_mcp
