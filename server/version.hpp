// What this program is, as it was built.
#pragma once

#include <string_view>

namespace rkllm_mcp {

extern const std::string_view kProgramVersion;  // "0.2.0"
extern const std::string_view kAbiSetVersions;  // versions of the header that are built in: "1.2.3, 1.3.0"

}  // namespace rkllm_mcp
