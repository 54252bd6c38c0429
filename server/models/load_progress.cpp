#include "models/load_progress.hpp"

#include "models/model_files.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <system_error>
#include <utility>

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

Json LoadsUnderWay::status(const std::vector<QueuedBackend::Load>& loads) {
  std::erase_if(seen_, [&loads](const auto& entry) {
    return std::ranges::find(loads, entry.first, &QueuedBackend::Load::init) == loads.end();
  });
  Json all = Json::array();
  for (const QueuedBackend::Load& load : loads) {
    auto found = seen_.find(load.init);
    if (found == seen_.end()) {
      const auto file = load.path.empty() ? std::nullopt : look_at_model(load.path);
      const auto total = file ? std::optional(file->bytes) : std::nullopt;
      found = seen_.emplace(load.init, Seen{total, LoadedBytes(load.path, total, proc_)}).first;
    }
    const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
    std::optional<double> left;
    if (load.before) left = std::max(0.0, std::chrono::duration<double>(*load.before - load.since).count());
    // 0 counts as unknown: nothing was seen to be read, but it may have been read before the first look.
    const std::int64_t bytes = load.process ? found->second.bytes.of(*load.process).value_or(0) : 0;
    all.push_back(Json{{"name", load.model.empty() ? std::filesystem::path(load.path).stem().string() : load.model},
                       {"path", load.path.empty() ? Json(nullptr) : Json(load.path)},
                       {"bytes", bytes > 0 ? Json(bytes) : Json(nullptr)},
                       {"total", or_null(found->second.total)},
                       {"seconds_left", or_null(left)}});
  }
  return all;
}

}  // namespace rkllm_mcp
