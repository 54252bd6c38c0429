#include "staged_file.hpp"

#include "diagnostics.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace bindgen {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& what, int why) {
  throw Refusal({path.string(), 0, 0}, what + ": " + std::generic_category().message(why));
}

constexpr std::string_view kSuffix = ".XXXXXX";  // as mkostemp() wants it

// 0, or the errno of what failed.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(descriptor, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

// A new file gets what any program's new files get; one that is replaced keeps its permissions.
void set_mode(int descriptor, const fs::path& place) {
  struct stat present {};
  mode_t mode = 0;
  if (::stat(place.c_str(), &present) == 0) {
    mode = present.st_mode & 07777;
  } else {
    const mode_t mask = ::umask(0);  // the only way to read it; this tool has one thread
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  if (::fchmod(descriptor, mode) != 0) return;  // the file is readable for its owner all the same
}

}  // namespace

StagedFile::StagedFile(fs::path place, const std::string& text) : place_(std::move(place)) {
  std::error_code failed;
  fs::create_directories(place_.parent_path().empty() ? "." : place_.parent_path(), failed);
  if (failed) refuse(place_.parent_path(), "cannot make this folder", failed.value());
  std::string name = (place_.parent_path() / ("." + place_.filename().string() + std::string(kSuffix))).string();
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) refuse(place_, "cannot write this file", errno);
  staged_ = name;
  int why = write_all(descriptor, text);
  set_mode(descriptor, place_);
  if (::close(descriptor) != 0 && why == 0) why = errno;
  if (why == 0) return;
  ::unlink(staged_.c_str());
  refuse(place_, "cannot write this file", why);
}

std::string StagedFile::place_of(const std::string& staged) {
  if (staged.size() < kSuffix.size() + 2 || staged.front() != '.') return "";
  const std::size_t end = staged.size() - kSuffix.size();
  const auto is_drawn = [](unsigned char character) { return std::isalnum(character) != 0; };
  const auto drawn = staged.begin() + static_cast<std::ptrdiff_t>(end) + 1;
  return staged[end] == '.' && std::all_of(drawn, staged.end(), is_drawn) ? staged.substr(1, end - 1) : "";
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : place_(std::move(other.place_)), staged_(std::exchange(other.staged_, {})) {}

StagedFile& StagedFile::operator=(StagedFile&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(staged_, other.staged_);
  return *this;
}

StagedFile::~StagedFile() {
  if (!staged_.empty()) ::unlink(staged_.c_str());
}

void StagedFile::put_in_place() {
  if (::rename(staged_.c_str(), place_.c_str()) != 0) refuse(place_, "cannot put this file in place", errno);
  staged_.clear();
  // The new name, too, has to survive a power cut. A file system that cannot promise it has no better way either.
  const fs::path folder = place_.parent_path().empty() ? "." : place_.parent_path();
  if (const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); descriptor >= 0) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
}

}  // namespace bindgen
