// What is said of a command line that cannot be understood: what is wrong, what was probably meant, where to read on.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace rkllm_mcp {

// A complaint of several lines, the last with a command that helps. `arguments` are those of the program, without its
// name; `app` has just failed to parse them.
std::string complaint_about(const CLI::App& app, const std::vector<std::string>& arguments,
                            const CLI::ParseError& error);

// "unknown command 'serv'; did you mean "serve"?", of a word behind `app`.
std::string no_such_command(const CLI::App& app, const std::string& word);

}  // namespace rkllm_mcp
