// What shells complete after `rkllm-mcp `: its commands and their options, made of the command table.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rkllm_mcp {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace rkllm_mcp
