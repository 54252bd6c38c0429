#include "settings/location.hpp"

#include "settings/table.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

std::optional<std::string> value_of_variable(const Environment& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

// A temporary file in the directory of the one it is to become; removed unless it has become that.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& beside) : path_(beside + ".XXXXXX") {
    descriptor_ = ::mkostemp(path_.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail(errno, "cannot write " + beside);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  void write(std::string_view text, mode_t mode) {
    while (!text.empty()) {
      const auto written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno, "cannot write " + path_);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fchmod(descriptor_, mode) != 0 || ::fsync(descriptor_) != 0) fail(errno, "cannot write " + path_);
  }

  // Gives the file its name unless that is taken. A hard link does this in one step on every usual file system; the
  // few that have no links (FAT) can rename without replacing.
  Written become(const std::string& path) {
    if (::link(path_.c_str(), path.c_str()) == 0) return Written::kWritten;
    if (errno == EEXIST) return Written::kExists;
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0) return Written::kWritten;
    if (errno == EEXIST) return Written::kExists;
    fail(errno, "cannot write " + path);
  }

 private:
  std::string path_;
  int descriptor_;
};

// The name of a new file is safe on disk only when its directory is.
void sync_directory(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

Written write_new_file(const fs::path& path, std::string_view text, mode_t mode) {
  if (fs::exists(path)) return Written::kExists;
  TemporaryFile file(path.string());
  file.write(text, mode);
  const Written written = file.become(path.string());
  sync_directory(path.parent_path().string());
  return written;
}

}  // namespace

Environment current_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::optional<std::string> settings_file_of(const Environment& environment) {
  return value_of_variable(environment, "RKLLM_MCP_SETTINGS");
}

std::optional<std::string> settings_path(const std::optional<std::string>& asked_for, const Environment& environment) {
  if (asked_for) return asked_for;
  if (auto path = settings_file_of(environment)) return path;
  std::error_code ignored;
  if (fs::exists("settings.json", ignored)) return "settings.json";
  if (const auto config = value_of_variable(environment, "XDG_CONFIG_HOME")) {
    return *config + "/rkllm-mcp/settings.json";
  }
  if (const auto home = value_of_variable(environment, "HOME")) return *home + "/.config/rkllm-mcp/settings.json";
  return std::nullopt;
}

Written write_default_settings(const std::string& path) {
  const fs::path file = fs::absolute(path);
  if (fs::exists(file)) return Written::kExists;
  fs::create_directories(file.parent_path());
  write_new_file(file.parent_path() / "settings.schema.json", settings_schema().dump(2) + "\n", 0644);
  return write_new_file(file, default_settings_file().dump(2) + "\n", 0600);
}

}  // namespace rkllm_mcp
