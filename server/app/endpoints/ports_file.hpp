// A file that tells the program which started this server where it can be reached.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp {

// Writes `content` to `path` so that a reader sees all of it or nothing. Throws std::runtime_error.
void write_ports_file(const std::string& path, const Json& content);

}  // namespace rkllm_mcp
