#include "text/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

constexpr off_t kLargestFile = 1 << 20;

// A file descriptor, closed at the end of its scope.
struct OpenFile {
  explicit OpenFile(const std::string& path) : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
  const int descriptor;
};

}  // namespace

std::string read_private_file(const std::string& path) {
  const OpenFile file(path);
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) {
    throw std::runtime_error(path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw std::runtime_error(path + ": not a file");
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    throw std::runtime_error(path + ": belongs to another user");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw std::runtime_error(path + ": is open to other users; close it with chmod 600");
  }
  if (status.st_size > kLargestFile) throw std::runtime_error(path + ": is too large");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const auto count = ::read(file.descriptor, text.data() + filled, text.size() - filled);
    if (count < 0) throw std::runtime_error(path + ": " + std::strerror(errno));
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

}  // namespace rkllm_mcp
