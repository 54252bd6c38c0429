// What the program prints when it is started without arguments: the few commands that a new user needs.
#pragma once

#include <cstddef>
#include <string>

namespace rkllm_mcp {

std::string guide(std::size_t width);  // in columns

}  // namespace rkllm_mcp
