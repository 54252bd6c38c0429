// What is piped into standard input, of commands that take text from there.
#pragma once

#include <string>

namespace rkllm_mcp {

// Where the command says what it is to do without it, too: standard input is often an open pipe that nobody writes to
// (ssh, CI, cron), and nobody is there to end it. A "-" asks for it.
enum class PipedInput { kMayBeNone, kAskedFor };

// All of it, to its end. After a second in which nothing came, a person is told on standard error what is waited for,
// and how to end the wait; kMayBeNone gives up after five, says so, and returns nothing. `what`: "the parameters".
std::string piped_input(const std::string& what, PipedInput wish);

}  // namespace rkllm_mcp
