// JSON the way templates write it: as Python's json.dumps does, with a space behind ',' and ':'. Models have seen their
// tools in that form, so it is worth being exact.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp::chat {

// `indent` spaces for each level, every member on a line of its own; 0: all in one line.
std::string python_json(const Json& value, unsigned indent = 0);

}  // namespace rkllm_mcp::chat
