// SHA-256 of a file's contents, which may be gigabytes.
#pragma once

#include "text/sha256.hpp"

#include <functional>
#include <optional>
#include <string>

namespace rkllm_mcp {

// Blocks for as long as the disk does. `goes_on` is asked for every megabyte; nothing if it says no, or if the file cannot
// be read. Threads: any.
std::optional<Sha256> sha256_of_file(const std::string& path, const std::function<bool()>& goes_on);

}  // namespace rkllm_mcp
