// The manual page rkllm-mcp(1), made of the command table: nothing is said in two places.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rkllm_mcp {

// In the macros of man(7).
std::string man_page(const CLI::App& app);

}  // namespace rkllm_mcp
