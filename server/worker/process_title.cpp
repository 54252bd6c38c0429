#include "worker/process_title.hpp"

#include "text/shown.hpp"
#include "text/utf8.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kShortBytes = 15;  // that Linux keeps of a thread's name

// prctl(PR_SET_NAME) would name the calling thread; a process is called like its first one.
void name_first_thread(std::string_view name) {
  const std::string path = "/proc/self/task/" + std::to_string(::getpid()) + "/comm";
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;  // no /proc: then nobody reads it, either
  [[maybe_unused]] const auto written = ::write(file, name.data(), name.size());
  ::close(file);
}

}  // namespace

std::span<char> ProcessTitle::memory_of(int argc, char** argv) {
  if (argc <= 0 || argv == nullptr || argv[0] == nullptr) return {};
  char* const begin = argv[0];
  char* end = begin;
  for (int at = 0; at < argc && argv[at] == end; ++at) end += std::strlen(argv[at]) + 1;
  return {begin, end};
}

void ProcessTitle::show(std::string_view title) {
  const std::string shown = in_one_line(title);
  const std::lock_guard lock(mutex_);
  name_first_thread(beginning_of(shown, kShortBytes));
  if (memory_.empty()) return;
  // The last byte stays zero: without it Linux would take what follows, the environment, for a part of the title.
  const std::string_view fitting = beginning_of(shown, memory_.size() - 1);
  std::copy(fitting.begin(), fitting.end(), memory_.begin());
  std::fill(memory_.begin() + static_cast<std::ptrdiff_t>(fitting.size()), memory_.end(), '\0');
}

}  // namespace rkllm_mcp
