// call, connect, tools: for programs and hosts, and for trying what they do.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

namespace rkllm_mcp {

CLI::App* add_call(CLI::App& app, Parsed& parsed);
CLI::App* add_connect(CLI::App& app, Parsed& parsed);
CLI::App* add_tools(CLI::App& app, Parsed& parsed);

// What was read for call, which may read its parameters from standard input, and for tools. Throws
// CLI::ValidationError.
CallOptions call_options(Parsed& parsed);
ToolsOptions tools_options(Parsed& parsed);

}  // namespace rkllm_mcp
