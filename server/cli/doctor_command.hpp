// rkllm-mcp doctor: what would stand in the way of a server on this machine, and how to mend it.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code: 1 if there is a problem, warnings alone are 0. Throws SettingsRefused.
int run_doctor(const DoctorOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
