#include "backend/file_rules.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <system_error>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

// Absolute, links resolved as far as the path exists.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(fs::absolute(path), error);
  if (error) throw FileRefused("cannot be resolved: " + error.message());
  // If there is still a link in it, that leads to a file that does not exist yet, and may be anywhere.
  for (fs::path part = result; part.has_relative_path(); part = part.parent_path()) {
    if (fs::is_symlink(part, error)) throw FileRefused("expected a file that exists, or a path without links");
  }
  return result;
}

bool is_below(const fs::path& path, const fs::path& directory) {
  const fs::path root = resolved(directory);
  const auto [rest, ignored] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return rest == root.end() && path != root;
}

// "/var/cache/x/" as "/var/cache/x".
fs::path without_slash(const fs::path& directory) {
  return directory.has_filename() || !directory.has_relative_path() ? directory : directory.parent_path();
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// Closed to all but its owner.
void make_directory(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory, error)) return;
  fs::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), S_IRWXU) == 0 || fs::is_directory(directory, error)) return;
  throw FileRefused("cannot be written: runtime.cache_dir does not exist and cannot be made");
}

std::chrono::nanoseconds since_1970(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

FileRules::FileRules(const Directories& directories)
    : cache_(without_slash(directories.cache.empty() ? usual_cache_directory() : directories.cache)),
      cache_bytes_(directories.cache_bytes) {
  for (const auto& models : directories.models) models_.push_back(without_slash(models));
}

std::string FileRules::usual_cache_directory() {
  if (const std::string given = environment("CACHE_DIRECTORY"); !given.empty()) return given.substr(0, given.find(':'));
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) return caches + "/rkllm-mcp";
  if (const std::string home = environment("HOME"); !home.empty()) return home + "/.cache/rkllm-mcp";
  return {};
}

std::string FileRules::path_for(const std::string& given, FileUse use) const {
  switch (use) {
    case FileUse::kNone: return given;
    case FileUse::kRead: return to_read(given);
    case FileUse::kWritten: return to_write(given);
  }
  return given;
}

std::string FileRules::to_read(const Path& given) const {
  const Path path = given.is_relative() ? find(given) : given;
  if (models_.empty()) return path.string();
  const Path real = resolved(path);
  const auto holds_it = [&real](const Path& directory) { return !directory.empty() && is_below(real, directory); };
  if (std::none_of(models_.begin(), models_.end(), holds_it) && !holds_it(cache_)) {
    throw FileRefused("expected a file below one of runtime.model_dirs");
  }
  return real.string();
}

FileRules::Path FileRules::find(const Path& relative) const {
  std::vector<Path> places = models_;
  if (!cache_.empty()) places.push_back(cache_);
  std::error_code ignored;
  for (const Path& place : places) {
    if (fs::exists(place / relative, ignored)) return place / relative;
  }
  return models_.empty() ? relative : models_.front() / relative;
}

std::string FileRules::to_write(const Path& given) const {
  if (given.empty()) throw FileRefused("expected the name of a file");
  if (cache_.empty())
    throw FileRefused("cannot be written: runtime.cache_dir is not set, and there is no home directory");
  const Path real = resolved(cache_ / given);  // an absolute path replaces the directory
  if (!is_below(real, cache_)) throw FileRefused("expected a file below runtime.cache_dir, or a relative path");
  make_directory(cache_);
  return real.string();
}

std::string file_identity(const FileRules& rules, const std::string& path) {
  std::string file;
  try {
    file = rules.path_for(path, FileUse::kRead);
  } catch (const std::exception&) {
    return {};  // whoever loads it is told
  }
  timespec now{};
  struct stat status {};
  // The clock that the kernel writes into files: it moves every few milliseconds.
  if (::clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || ::stat(file.c_str(), &status) != 0) return {};
  // Each write, rename and link changes this time (ctime), also where a program sets the time of the contents (mtime).
  const auto changed = since_1970(status.st_ctim);
  if (changed >= since_1970(now)) return {};
  return file + "\n" + std::to_string(status.st_dev) + "\n" + std::to_string(status.st_ino) + "\n" +
         std::to_string(status.st_size) + "\n" + std::to_string(changed.count());
}

}  // namespace rkllm_mcp
