// The pages of help, made of the command table of CLI11. What --help prints: wrapped lines, commands in their groups, a
// usage line that shows what is required; what is printed where nothing is asked for; the manual page.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <string>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rkllm_mcp {

// The help of the program or of one command. `width` is in columns.
std::string help_text(const CLI::App& app, std::size_t width);

// The help for programs: {"name","summary","details","usage","commands":[...],"arguments":[...],"options":[...]};
// each command is such an object again.
Json help_json(const CLI::App& app);

// What the program prints when it is started without arguments: the few commands that a new user needs.
std::string guide(std::size_t width);  // in columns

// The parts that help, man page and completions share.
std::string full_name(const CLI::App& app);         // "rkllm-mcp tools call"
std::string usage_line(const CLI::App& app);        // without "Usage: "
std::string summary_of(const CLI::App& app);        // the first line of its description
std::string details_of(const CLI::App& app);        // what follows it; may be empty
std::string option_words(const CLI::Option& each);  // "-f, --follow", "--to URL", "METHOD"
std::string described(const CLI::Option& option);   // its description, with its variable

// Whether people are shown this option, or this command.
bool is_shown(const CLI::Option& option);
bool is_shown(const CLI::App& command);

// The manual page rkllm-mcp(1), in the macros of man(7).
std::string man_page(const CLI::App& app);

}  // namespace rkllm_mcp
