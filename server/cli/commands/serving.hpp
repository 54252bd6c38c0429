// serve, stdio: what runs a server.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

namespace rkllm_mcp {

CLI::App* add_serve(CLI::App& app, Parsed& parsed);
CLI::App* add_stdio(CLI::App& app, Parsed& parsed);

}  // namespace rkllm_mcp
