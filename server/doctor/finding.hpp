// One line of what `rkllm-mcp doctor` has found.
#pragma once

#include <string>
#include <vector>

namespace rkllm_mcp::doctor {

enum class Level {
  kOk,
  kWarning,  // it works, but slower, or not for everything
  kProblem,  // something does not work
};

struct Finding {
  std::string subject;  // "library", "npu driver", ...: what was looked at
  Level level;
  std::string text;    // what was found
  // A command that mends it, to be copied, with what is to be said of it behind "   # "; empty where all is well. Where
  // only a person can decide it may look, and says there what to do then.
  std::string cure{};
};

using Findings = std::vector<Finding>;

}  // namespace rkllm_mcp::doctor
