#include "cli/talk/new_file.hpp"

#include "process/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <system_error>

namespace rkllm_mcp {
namespace {

// 0, or the number of what went wrong.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

void write_new_file(const std::string& path, std::string_view text) {
  constexpr mode_t kMode = 0666;  // of which the user's umask takes away what it is for
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (file.number() < 0 && errno == EEXIST) throw std::runtime_error(path + " exists; name another file");
  int error = file.number() < 0 ? errno : 0;
  if (error == 0) {
    error = write_all(file.number(), text);
    // Some file systems say only now that the disk is full. (Interrupted, it is closed all the same.)
    if (::close(file.release()) != 0 && error == 0 && errno != EINTR) error = errno;
    if (error != 0) ::unlink(path.c_str());
  }
  if (error != 0) {
    throw std::runtime_error(path + " cannot be written: " + std::generic_category().message(error));
  }
}

}  // namespace rkllm_mcp
