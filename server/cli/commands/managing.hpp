// status, models, ps, load, unload, pull, rm, logs, doctor: for people who look after a server.
#pragma once

#include "cli/commands/parsed.hpp"

#include <CLI/App.hpp>

#include <vector>

namespace rkllm_mcp {

std::vector<CLI::App*> add_states(CLI::App& app, Parsed& parsed);
CLI::App* add_pull(CLI::App& app, Parsed& parsed);
CLI::App* add_remove(CLI::App& app, Parsed& parsed);
CLI::App* add_logs(CLI::App& app, Parsed& parsed);
CLI::App* add_doctor(CLI::App& app, Parsed& parsed);

}  // namespace rkllm_mcp
