#include "text/private_file.hpp"

#include "text/regular_file.hpp"

#include <unistd.h>

#include <cstddef>
#include <stdexcept>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

}  // namespace

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
