// Which commands there are, and what each can be told: a source for each group of `rkllm-mcp --help`. These put a
// command into the program's table, for parsing, help, manual page and completions alike.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

#include <vector>

namespace rkllm_mcp {

// talking.cpp: for people who talk to a model.
CLI::App* add_chat(CLI::App& app, Parsed& parsed);
CLI::App* add_ask(CLI::App& app, Parsed& parsed);

// managing.cpp: for people who look after a server.
std::vector<CLI::App*> add_states(CLI::App& app, Parsed& parsed);  // status, models, ps, load, unload
CLI::App* add_pull(CLI::App& app, Parsed& parsed);
CLI::App* add_remove(CLI::App& app, Parsed& parsed);
CLI::App* add_logs(CLI::App& app, Parsed& parsed);
CLI::App* add_doctor(CLI::App& app, Parsed& parsed);

// serving.cpp: what runs a server.
CLI::App* add_serve(CLI::App& app, Parsed& parsed);
CLI::App* add_stdio(CLI::App& app, Parsed& parsed);

// programming.cpp: for programs and hosts, and for trying what they do.
CLI::App* add_call(CLI::App& app, Parsed& parsed);
CLI::App* add_connect(CLI::App& app, Parsed& parsed);
CLI::App* add_tools(CLI::App& app, Parsed& parsed);

// setting_up.cpp: what is needed now and then.
CLI::App* add_memory(CLI::App& app, Parsed& parsed);
CLI::App* add_settings(CLI::App& app, Parsed& parsed);
CLI::App* add_completion(CLI::App& app, Parsed& parsed);
CLI::App* add_help(CLI::App& app, Parsed& parsed);

// What was read for the commands whose options have to be looked at together: call may read its parameters from
// standard input. Throw CLI::ValidationError.
CallOptions call_options(Parsed& parsed);
ToolsOptions tools_options(Parsed& parsed);
MemoryCommandOptions memory_command_options(Parsed& parsed);
SettingsOptions settings_options(Parsed& parsed);

}  // namespace rkllm_mcp
