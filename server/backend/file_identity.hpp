// What tells a file from all others, and from what it has held before.
#pragma once

#include "backend/file_rules.hpp"

#include <string>

namespace rkllm_mcp {

// Of the file that the library would read for this path: its own path, what the file system knows it by, its size and
// the time of its last change. Empty if there is none, or if it has just changed: the next change could have the same
// time. Asks the disk; any thread.
std::string file_identity(const FileRules& rules, const std::string& path);

}  // namespace rkllm_mcp
