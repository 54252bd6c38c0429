#include "upstreams/tool_filter.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace rkllm_mcp {

bool ToolFilter::passes(const std::string& tool) const {
  const auto matches = [&tool](const std::string& pattern) { return ::fnmatch(pattern.c_str(), tool.c_str(), 0) == 0; };
  return std::ranges::none_of(deny, matches) && (allow.empty() || std::ranges::any_of(allow, matches));
}

}  // namespace rkllm_mcp
