// What is piped into standard input, of commands that take text from there.
#pragma once

#include <string>

namespace rkllm_mcp {

// All of it, to its end. After a second in which nothing came, a person is told on standard error what is waited for,
// and how to end the wait: over ssh, say, standard input stays open though nobody writes to it. `what`: "the
// parameters".
std::string piped_input(const std::string& what);

}  // namespace rkllm_mcp
