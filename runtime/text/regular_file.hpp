// Files that are read whole, without ever waiting: a pipe or a device in a file's place is refused instead of holding
// up the program until somebody writes to it, and a file of the kernel's that answers with an error is an error.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <string>

namespace rkllm_mcp {

class RegularFile {
 public:
  // Opens it. Throws std::runtime_error that names the path and the reason, as read() does.
  explicit RegularFile(const std::string& path);
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;
  ~RegularFile();

  const struct stat& status() const { return status_; }
  // The whole of it, or an error if it is longer than `most` bytes.
  std::string read(std::size_t most);

 private:
  const std::string path_;
  const int descriptor_;
  struct stat status_ {};
};

std::string read_regular_file(const std::string& path, std::size_t most);
// Nothing where there is an error.
std::optional<std::string> try_read_regular_file(const std::string& path, std::size_t most);

// Files that hold secrets: read only if nobody else can read them, so that a slip of the administrator is noticed.
//
// The whole of a file that belongs to this user or to root and is closed to group and others (mode 0600). Throws
// std::runtime_error that names the path and what is wrong; never anything of the contents.
std::string read_private_file(const std::string& path);

}  // namespace rkllm_mcp
