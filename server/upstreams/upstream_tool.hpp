// A tool as another MCP server lists it: whether it can be served here, and as what.
#pragma once

#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp {

// Text from elsewhere for a line of the log: its beginning, without control characters.
std::string for_the_log(const std::string& text);

// Letters, digits, _ and -, 64 at most: hosts refuse other names.
bool is_tool_name(const std::string& name);

// What one list has for us.
struct SortedTools {
  std::vector<Json> served;           // as they were listed
  std::vector<std::string> left_out;  // NAME: WHY, for the log
};
SortedTools sort_tools(const std::string& upstream, std::vector<Json> listed);

// UPSTREAM_NAME, with _ for each dot.
std::string served_name(const std::string& upstream, const Json& tool);

// One of `served` as a tool of this server; what runs it is left to the caller.
Tool served_tool(const std::string& upstream, const Json& tool);

}  // namespace rkllm_mcp
