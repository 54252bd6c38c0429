// What shells complete after `rkllm-mcp `: its commands and their options, made of the command table.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace rkllm_mcp {

// The description of a validator that lists the words for an option begins with this; the words follow, with spaces.
inline constexpr std::string_view kOffered = "one of ";

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace rkllm_mcp
