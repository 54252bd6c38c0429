// A file system for SQLite that remembers what has been synced, so that a test can look at what a power cut would
// leave: everything else is lost.
//
// Threads: one connection at a time.
#pragma once

#include <string>

namespace rkllm_mcp::test {

// The name under which SQLite knows it. Registered by the first call.
const char* power_cut_vfs();

// The files below `directory` as they would be after a power cut now, in `into`, which exists and is empty.
void cut_power(const std::string& directory, const std::string& into);

}  // namespace rkllm_mcp::test
