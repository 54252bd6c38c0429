// chat, ask: for people who talk to a model.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

namespace rkllm_mcp {

CLI::App* add_chat(CLI::App& app, Parsed& parsed);
CLI::App* add_ask(CLI::App& app, Parsed& parsed);

}  // namespace rkllm_mcp
