#include "backend/kept_caches.hpp"

#include <rkllm_mcp/errors.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

bool asks_for_cache(const Json& params) {
  static const Json::json_pointer kFlag("/rkllm_infer_params/prompt_cache_params/save_prompt_cache");
  if (!params.contains(kFlag)) return false;
  const Json& flag = params[kFlag];
  return flag.is_boolean() ? flag.get<bool>() : flag.is_number() && flag.get<double>() != 0;
}

std::uint64_t bytes_below(const fs::path& directory) {
  std::uint64_t bytes = 0;
  std::error_code error;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator each(directory, skip, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    if (!each->is_regular_file(gone) || each->is_symlink(gone)) continue;
    const auto size = each->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

fs::file_time_type time_of(const fs::path& path) {
  std::error_code is_absent;
  const auto time = fs::last_write_time(path, is_absent);
  return is_absent ? fs::file_time_type::min() : time;
}

// Why the disk of `directory` takes no more; nothing if it does. If it is full, the last cache is not whole, either.
std::optional<std::string> reason_of_full_disk(const fs::path& directory) {
  constexpr std::size_t kSomething = 64 * 1024;
  const int file = ::open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return std::nullopt;  // a file system without such files tells nothing
  const std::string something(kSomething, 'x');
  const auto written = ::write(file, something.data(), something.size());
  const int reason = errno;
  ::close(file);
  if (written == static_cast<ssize_t>(something.size())) return std::nullopt;
  return std::strerror(written < 0 ? reason : ENOSPC);
}

}  // namespace

KeptCaches::KeptCaches(const FilePolicy& policy, const FileRules& rules, const Json& params)
    : policy_(policy), rules_(rules), is_asked_for_(asks_for_cache(params)) {}

std::string KeptCaches::path_for(const std::string& given, FileUse use) const {
  std::string path = policy_.path_for(given, use);
  if (use != FileUse::kWritten || !is_asked_for_) return path;
  std::error_code is_new;
  const auto replaced = fs::file_size(path, is_new);
  const std::uint64_t others = bytes_below(rules_.cache_directory()) - (is_new ? 0 : replaced);
  if (others >= rules_.cache_bytes()) {
    throw FileRefused("cannot be written: the files below runtime.cache_dir take " + std::to_string(others) +
                      " bytes, and runtime.cache_bytes allows " + std::to_string(rules_.cache_bytes()) +
                      "; remove some of them");
  }
  caches_.push_back({path, time_of(path)});
  return path;
}

void KeptCaches::check(const std::string& function) const {
  for (const auto& [path, before] : caches_) {
    const bool is_written = time_of(path) != before;  // for some runs the library saves none, and logs that
    std::optional<std::string> reason = reason_of_full_disk(path.parent_path());
    std::error_code ignored;
    if (!reason && is_written && fs::file_size(path, ignored) == 0) reason = "it is empty";
    const std::uint64_t all = bytes_below(rules_.cache_directory());
    if (!reason && is_written && all > rules_.cache_bytes()) {
      reason = "with it the caches take " + std::to_string(all) + " bytes, and runtime.cache_bytes allows " +
               std::to_string(rules_.cache_bytes());
    }
    if (!reason) continue;
    if (is_written) fs::remove(path, ignored);
    throw RpcError(ErrorCode::kCallFailed,
                   "the run has ended, but its prompt cache was not saved: " + *reason + "; nothing of it was kept",
                   Json{{"function", function}, {"status", nullptr}, {"prompt_cache", "not saved"}});
  }
}

}  // namespace rkllm_mcp
