// Whether a text has a line that is exactly this one.
#pragma once

#include <string>

namespace rkllm_mcp::test {

inline bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace rkllm_mcp::test
