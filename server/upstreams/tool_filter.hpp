// Which tools of another MCP server are wanted: patterns of the names that they have there, with *, ? and [...].
#pragma once

#include <string>
#include <vector>

namespace rkllm_mcp {

struct ToolFilter {
  std::vector<std::string> allow{};  // empty: all
  std::vector<std::string> deny{};   // goes first

  bool passes(const std::string& tool) const;
};

}  // namespace rkllm_mcp
