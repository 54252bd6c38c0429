// The library's own log lines. As with the vendor, information and warnings go to STDOUT even at level 0, errors to
// stderr; RKLLM_LOG_LEVEL (read when the handle is made) adds detail: 1 a table of times after each run, 2 and above
// parameters, prompts, tokens and cache.
#pragma once

#include <string_view>

namespace rkllm_mcp::sim {

enum class Detail { kBase = 0, kPerf = 1, kPrompts = 2 };

// Immutable; usable from any thread. Each call writes whole lines.
class Log {
 public:
  Log();

  void info(std::string_view line) const;
  void warning(std::string_view line) const;
  void error(std::string_view line) const;
  // A line on stdout without the prefix, as a few of the vendor's are.
  void bare(std::string_view line) const;
  // An information line that is written only at the given level or above. Ask `shows` first where making it is costly.
  void detail(Detail detail, std::string_view line) const;
  bool shows(Detail detail) const noexcept { return static_cast<int>(detail) <= level_; }

 private:
  int level_;
};

}  // namespace rkllm_mcp::sim
