// What the program prints when it is started without arguments: the few commands that a new user needs.
#pragma once

#include <string>

namespace rkllm_mcp {

std::string guide();

}  // namespace rkllm_mcp
