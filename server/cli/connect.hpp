// rkllm-mcp connect: standard input and output as a way to a server elsewhere, for hosts that can only start commands.
//
// A bridge, not a client: each line of input is sent as it is, and each message of the server is printed as it is, on
// one line. Nothing else is written to standard output.
#pragma once

#include "cli/command_line.hpp"

namespace rkllm_mcp {

// Returns the exit code: 0 after the end of input (answers to what is in flight are waited for, but no longer than
// half a second) or when nobody reads the output; 1 if the server cannot be reached or goes away: each request in
// flight is then answered with error -32603, whose data has the `url`; 2 if the URL is none.
int run_connect(const ConnectOptions& options);

}  // namespace rkllm_mcp
