#include "backend/file_faults.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rkllm_mcp {
namespace {

// Empty if nothing is.
std::string what_is_wrong_with(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? "no such file" : std::generic_category().message(errno);
  }
  if (S_ISDIR(status.st_mode)) return "this is a directory";
  if (::access(path.c_str(), R_OK) != 0)
    return "not readable for the server (" + std::generic_category().message(errno) + ")";
  return S_ISREG(status.st_mode) && status.st_size == 0 ? "this file is empty" : "";
}

}  // namespace

std::optional<RpcError> NotedFiles::explained(const CallFailed& failure) const {
  for (const std::string& path : read_) {
    const std::string fault = what_is_wrong_with(path);
    if (fault.empty()) continue;
    return RpcError(failure.code(), fault + ": " + shortened_path(path) + " (" + failure.what() + ")", failure.data());
  }
  return std::nullopt;
}

}  // namespace rkllm_mcp
