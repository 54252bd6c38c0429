// rkllm-mcp logs: what the server of these settings has logged, and with -f what it logs from now on.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Prints the file of log.file, over rotations; without one what the journal of systemd has of the service; where none
// runs, or another server is named, what that keeps in memory of its log (GET /log); each line as a JSON object if that
// is asked for. Returns the exit code. Throws SettingsRefused, what ServerLink throws, std::runtime_error if there is
// none of these.
int run_logs(const LogsOptions& options, const SettingsRequest& request);

}  // namespace rkllm_mcp
