#include "models/load_progress.hpp"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

// The number behind "KEY:" in a file of lines.
std::optional<std::int64_t> number_after(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t number = 0;
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> position_in(const std::string& model, const fs::path& process) {
  std::optional<std::int64_t> furthest;
  std::error_code unreadable;
  for (fs::directory_iterator each(process / "fd", unreadable), end; !unreadable && each != end;
       each.increment(unreadable)) {
    std::error_code gone;
    if (fs::read_symlink(each->path(), gone) != fs::path(model) || gone) continue;
    const auto position = number_after(process / "fdinfo" / each->path().filename(), "pos:");
    if (position) furthest = std::max(furthest.value_or(0), *position);
  }
  return furthest;
}

}  // namespace

std::optional<std::int64_t> LoadedBytes::of(pid_t process) {
  const fs::path folder = proc_ / std::to_string(process);
  const auto read = number_after(folder / "io", "rchar:");
  if (read && !read_before_) read_before_ = read;
  std::optional<std::int64_t> bytes = position_in(model_, folder);
  if (read) bytes = std::max(bytes.value_or(0), *read - *read_before_);
  if (!bytes) return so_far_;
  if (total_) bytes = std::min(*bytes, *total_);
  so_far_ = std::max(so_far_.value_or(0), *bytes);
  return so_far_;
}

}  // namespace rkllm_mcp
