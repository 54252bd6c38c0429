// Which files a call may name. The C library would open any path that this process may open: whoever may call could
// then use files like somebody who is logged in on the machine.
#pragma once

#include <stdexcept>
#include <string>

namespace rkllm_mcp {

// What the library does with the file that a text names; kNone: the text names none.
enum class FileUse { kNone, kRead, kWritten };

// what() says why the file is refused; the decoder adds the path in the JSON.
class FileRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class FilePolicy {
 public:
  virtual ~FilePolicy() = default;
  // The path to give to the library for the one that a client gave; with kNone the path as given. Throws FileRefused. A
  // policy in front of another returns the other's path, and refuses at least what the other refuses. Looks at the file
  // system. Any thread, unless the policy was made for one call.
  virtual std::string path_for(const std::string& given, FileUse use) const = 0;
};

}  // namespace rkllm_mcp
