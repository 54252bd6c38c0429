// settings, memory, completion, help: what is needed now and then.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

namespace rkllm_mcp {

CLI::App* add_memory(CLI::App& app, Parsed& parsed);
CLI::App* add_settings(CLI::App& app, Parsed& parsed);
CLI::App* add_completion(CLI::App& app, Parsed& parsed);
CLI::App* add_help(CLI::App& app, Parsed& parsed);

// What was read for memory and for settings.
MemoryCommandOptions memory_command_options(Parsed& parsed);
SettingsOptions settings_options(Parsed& parsed);

}  // namespace rkllm_mcp
