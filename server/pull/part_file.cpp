#include "pull/part_file.hpp"

#include "text/hexadecimal.hpp"

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

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

PartFile::PartFile(fs::path target, const std::string& tag)
    : target_(std::move(target)), part_(target_.string() + ".part"), tag_(target_.string() + ".part.tag") {
  descriptor_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor_ < 0) fail("cannot be written");
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) throw std::runtime_error(target_.string() + " is being pulled already");
      fail("cannot be locked");
    }
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail("cannot be read");
    bytes_ = static_cast<std::int64_t>(status.st_size);
    if (bytes_ > 0 && (tag.empty() || content_of(tag_) != tag)) start_anew();
    std::ofstream(tag_, std::ios::binary | std::ios::trunc) << tag;  // if that fails the next pull begins anew
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
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

void PartFile::start_anew() {
  if (::ftruncate(descriptor_, 0) != 0) fail("cannot be written");
  bytes_ = 0;
}

std::size_t PartFile::read_at(std::int64_t offset, char* buffer, std::size_t count) const {
  for (;;) {
    const auto got = ::pread(descriptor_, buffer, count, static_cast<off_t>(offset));
    if (got > 0) return static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    fail("cannot be read");
  }
}

std::string PartFile::in_hex(Sha256Sum& sum) { return in_hexadecimal(sum.finish()); }

void PartFile::finish() {
  if (::fsync(descriptor_) != 0) fail("cannot be written");
  // Not rename(), which would replace a file that has appeared meanwhile.
  if (::link(part_.c_str(), target_.c_str()) != 0) {
    if (errno == EEXIST) throw std::runtime_error(target_.string() + " is there already");
    // A file system without links (FAT): nothing better is to be had.
    if (fs::exists(target_)) throw std::runtime_error(target_.string() + " is there already");
    if (::rename(part_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place");
  }
  discard();
  sync_folder(target_.parent_path());
}

void PartFile::discard() {
  ::unlink(part_.c_str());
  ::unlink(tag_.c_str());
}

}  // namespace rkllm_mcp
