// Files that hold secrets: read only if nobody else can read them, so that a slip of the administrator is noticed.
#pragma once

#include <string>

namespace rkllm_mcp {

// The whole of a file that belongs to this user or to root and is closed to group and others (mode 0600). Throws
// std::runtime_error that names the path and what is wrong; never anything of the contents.
std::string read_private_file(const std::string& path);

}  // namespace rkllm_mcp
