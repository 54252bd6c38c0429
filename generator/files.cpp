#include "files.hpp"

#include "diagnostics.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace bindgen {

std::string read_text(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown).type();
  using Kind = std::filesystem::file_type;
  // A pipe would be empty when clang reads it once more, and a device may have no end.
  const bool can_be_read_again = kind == Kind::regular || kind == Kind::directory || kind == Kind::not_found;
  if (!unknown && !can_be_read_again) throw Refusal({path.string(), 0, 0}, "cannot read this: it is no file");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char part[1 << 16];
  while (file && kind != Kind::directory) {
    file.read(part, sizeof part);
    text.append(part, static_cast<std::size_t>(file.gcount()));
  }
  if (file.eof() && !file.bad()) return text;
  const int why = errno;
  // A file that does not exist is the usual case: no reason is given for that.
  throw Refusal({path.string(), 0, 0},
                std::string("cannot read this file") +
                    (why == 0 || why == ENOENT ? "" : ": " + std::generic_category().message(why)));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

bool holds(const std::filesystem::path& path, const std::string& text) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(path, unknown) && read_text(path) == text;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code none;
  std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  if (none) temporary = "/tmp";
  std::string name = (temporary / "rkllm-bindgen-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Refusal({temporary.string(), 0, 0}, std::string("no folder can be made here: ") + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void TemporaryFolder::write(const std::string& name, const std::string& text) const {
  StagedFile(path_ / name, text).put_in_place();
}

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
