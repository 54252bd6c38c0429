#include "text/regular_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

// The most bytes of a file that holds a secret.
constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

}  // namespace

// O_NONBLOCK: a pipe opens without its other end. It changes nothing about files.
RegularFile::RegularFile(const std::string& path)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
  if (descriptor_ < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
  const bool is_known = ::fstat(descriptor_, &status_) == 0;
  if (is_known && S_ISREG(status_.st_mode)) return;
  const std::string reason = is_known ? "not a file" : std::strerror(errno);
  ::close(descriptor_);
  throw std::runtime_error(path + ": " + reason);
}

RegularFile::~RegularFile() { ::close(descriptor_); }

// The kernel's own files do not know their size.
std::string RegularFile::read(std::size_t most) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const auto count = ::read(descriptor_, part.data(), part.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::runtime_error(path_ + ": " + std::strerror(errno));
    text.append(part.data(), static_cast<std::size_t>(count));
    if (text.size() > most) throw std::runtime_error(path_ + ": is too large");
  }
}

std::string read_regular_file(const std::string& path, std::size_t most) { return RegularFile(path).read(most); }

std::optional<std::string> try_read_regular_file(const std::string& path, std::size_t most) {
  try {
    return read_regular_file(path, most);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::string read_private_file(const std::string& path) {
  RegularFile file(path);
  const struct stat& status = file.status();
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    throw std::runtime_error(path + ": belongs to another user");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw std::runtime_error(path + ": is open to other users; close it with chmod 600");
  }
  return file.read(kLargestFile);
}

}  // namespace rkllm_mcp
