// What is piped into standard input, of commands that take text from there.
#pragma once

#include <chrono>
#include <string>

namespace rkllm_mcp {

// Where the command could do without it, too: standard input is often an open pipe that nobody writes to (ssh, CI,
// cron), and nobody is there to end it. A "-" asks for it.
enum class PipedInput { kMayBeNone, kAskedFor };

inline constexpr std::chrono::milliseconds kPipePatience{10'000};

// All of it, to its end. After a second in which nothing came, a person is told on standard error what is waited for,
// and how to end the wait. kMayBeNone gives up after `patience`, and throws std::invalid_argument: whether something
// comes later cannot be told, and what was piped in must not be left out. `what`: "the parameters".
std::string piped_input(const std::string& what, PipedInput wish, std::chrono::milliseconds patience = kPipePatience);

}  // namespace rkllm_mcp
