// What shells complete after `rkllm-mcp `: its commands and their options, made of the command table.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace rkllm_mcp {

// With this begins the description of a validator that names what an option may be, a word behind the other.
inline constexpr std::string_view kOffered = "one of ";

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace rkllm_mcp
