#include "pull/part_file.hpp"

#include "text/ascii.hpp"
#include "text/sha256.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0644;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Never through a link that somebody else has put there.
void write_short(const fs::path& path, const std::string& text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (descriptor < 0) return;  // the next pull begins anew then
  [[maybe_unused]] const auto written = ::write(descriptor, text.data(), text.size());
  ::close(descriptor);
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

PartFile::PartFile(fs::path target)
    : target_(std::move(target)), part_(target_.string() + ".part"), tag_path_(target_.string() + ".part.tag") {
  open();
  try {
    // Another pull may have ended since its caller looked.
    if (fs::exists(target_)) {
      discard();
      throw std::runtime_error(target_.string() + " is there already");
    }
  } catch (...) {
    close();
    throw;
  }
}

PartFile::~PartFile() {
  if (bytes_ == 0 && !is_over_) discard();  // there is nothing to go on from
  close();
}

void PartFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void PartFile::open() {
  for (;;) {
    descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode);
    if (descriptor_ < 0) fail("cannot be written");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      close();
      if (why == EWOULDBLOCK) throw std::runtime_error(target_.string() + " is being pulled already");
      errno = why;
      fail("cannot be locked");
    }
    // The process that held the lock may have renamed the file before it let go: then it is a finished model by now,
    // and must not be written to. Neither must a file with a second name (a hard link).
    struct stat opened {};
    struct stat named {};
    const bool is_known = ::fstat(descriptor_, &opened) == 0;
    const bool is_it = is_known && ::stat(part_.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
                       opened.st_dev == named.st_dev;
    if (is_it && opened.st_nlink == 1) {
      bytes_ = static_cast<std::int64_t>(opened.st_size);
      tag_ = content_of(tag_path_);
      return;
    }
    if (is_it) ::unlink(part_.c_str());
    close();
  }
}

void PartFile::fail(const char* what) const {
  throw std::runtime_error(part_.string() + " " + what + ": " + std::system_category().message(errno));
}

void PartFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot be written");
    bytes_ += written;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PartFile::start_anew(const std::string& tag) {
  if (::ftruncate(descriptor_, 0) != 0) fail("cannot be written");
  bytes_ = 0;
  tag_ = tag;
  write_short(tag_path_, tag);
}

std::string PartFile::digest(const std::function<bool()>& goes_on) const {
  const auto sum = sha256_of_file(part_.string(), goes_on);
  return sum ? in_hexadecimal(*sum) : std::string();
}

void PartFile::finish() {
  if (::fsync(descriptor_) != 0) fail("cannot be written");
  // Not rename(), which would replace a file that has appeared meanwhile.
  if (::link(part_.c_str(), target_.c_str()) != 0) {
    if (errno == EEXIST) {
      discard();
      throw std::runtime_error(target_.string() + " is there already");
    }
    // A file system without links (FAT): nothing better is to be had.
    if (fs::exists(target_)) throw std::runtime_error(target_.string() + " is there already");
    if (::rename(part_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place");
  }
  discard();
  sync_folder(target_.parent_path());
}

std::error_code PartFile::discard() {
  is_over_ = true;
  const bool is_gone = ::unlink(part_.c_str()) == 0 || errno == ENOENT;
  const std::error_code error = is_gone ? std::error_code() : std::error_code(errno, std::generic_category());
  ::unlink(tag_path_.c_str());
  return error;
}

std::string file_of_model(const std::string& name) { return name.ends_with(".rkllm") ? name : name + ".rkllm"; }

std::vector<std::unique_ptr<PartFile>> unfinished_pulls(const std::vector<std::string>& folders,
                                                        const std::string& name) {
  std::vector<std::unique_ptr<PartFile>> found;
  if (name.find('/') != std::string::npos) return found;
  for (const std::string& folder : folders) {
    const fs::path target = fs::path(folder) / file_of_model(name);
    std::error_code error;  // no file has a name that is too long, and nothing is in a folder that cannot be read
    if (fs::exists(target, error) || !fs::exists(target.string() + ".part", error)) continue;
    found.push_back(std::make_unique<PartFile>(target));
  }
  return found;
}

void delete_models(const std::vector<std::string>& paths, const std::vector<std::unique_ptr<PartFile>>& beginnings) {
  const auto refuse = [](const std::string& path, const std::error_code& error) {
    if (error) throw std::runtime_error(path + " cannot be deleted: " + error.message());
  };
  const auto require_folder_of = [&refuse](const std::string& path) {
    const bool may_write = ::access(fs::path(path).parent_path().c_str(), W_OK | X_OK) == 0;
    refuse(path, may_write ? std::error_code() : std::error_code(errno, std::generic_category()));
  };
  for (const std::string& path : paths) require_folder_of(path);
  for (const auto& each : beginnings) require_folder_of(each->path());
  for (const std::string& path : paths) {
    std::error_code error;
    fs::remove(path, error);
    refuse(path, error);
  }
  for (const auto& each : beginnings) refuse(each->path(), each->discard());
}

}  // namespace rkllm_mcp
