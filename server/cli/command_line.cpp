#include "cli/command_line.hpp"

#include "cli/commands/commands.hpp"
#include "cli/commands/parsed.hpp"
#include "cli/help/complaint.hpp"
#include "cli/help/completions.hpp"
#include "cli/help/help_pages.hpp"
#include "cli/help/terminal.hpp"
#include "cli/run_command.hpp"
#include "cli/version_text.hpp"
#include "log_output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kDescription =
    "Language models on the NPU of a Rockchip board, for any program: Rockchip's RKLLM runtime as JSON-RPC 2.0 and "
    "MCP.";

constexpr const char* kFooter =
    "Examples:\n"
    "  rkllm-mcp serve\n"
    "  rkllm-mcp serve --simulator --set http.port=9000\n"
    "  rkllm-mcp ask \"Why is the sky blue?\"\n"
    "  rkllm-mcp pull hf.co/OWNER/NAME\n"
    "  rkllm-mcp connect http://board:8080/mcp\n"
    "\n"
    "Exit codes: 0 done; 1 failed, also where the server cannot be reached; 2 the command line is wrong; 3 the "
    "settings are refused; 4 cannot start (a port is in use, ...); 130 ended by Ctrl-C.";

// A text that was asked for, on standard output.
CommandLine shown(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {{}, Finished{kExitOk}};
}

CommandLine show_help(CLI::App& app, const Parsed& parsed) {
  CLI::App* command = &app;
  for (const std::string& word : parsed.help_on) {
    try {
      command = command->get_subcommand(word);
    } catch (const CLI::OptionNotFound&) {
      say_on_standard_error("rkllm-mcp: " + no_such_command(*command, word) + "; all commands: rkllm-mcp help");
      return {{}, Finished{kExitUsage}};
    }
  }
  if (!parsed.help_json) return shown(help_text(*command, columns_of(STDOUT_FILENO)));
  print_json(help_json(*command));
  return {{}, Finished{kExitOk}};
}

CommandLine show_completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return shown(bash_completion(app));
  if (shell == "zsh") return shown(zsh_completion(app));
  if (shell == "fish") return shown(fish_completion(app));
  return shown(man_page(app));
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  // How the server starts processes of its own: no commands for people, so help does not show them.
  if (argc > 1 && std::string_view(argv[1]) == "work") return {{}, WorkOptions{{argv + 2, argv + argc}}};
  if (argc == 5 && std::string_view(argv[1]) == "read-page") {
    return {{}, PageOptions{argv[2], argv[3], std::atoi(argv[4])}};
  }
  if (argc <= 1) return shown(guide(columns_of(STDOUT_FILENO)));
  CLI::App app(kDescription, "rkllm-mcp");
  app.require_subcommand(1);
  app.formatter_fn([](const CLI::App* each, const std::string&, CLI::AppFormatMode) {
    return help_text(*each, columns_of(STDOUT_FILENO));
  });
  app.set_help_flag("-h,--help", "Print this help");
  Parsed parsed;
  auto* as_json = app.add_flag("--json", parsed.version_json, "With --version: print JSON, for programs");
  auto* version = app.add_flag_callback(
      "--version", [&parsed] { throw CLI::CallForVersion(parsed.version_json ? versions_json() : versions_line(), 0); },
      "Print the versions of the program, of the runtime that it finds, and of the runtimes that it can use");
  as_json->needs(version);  // that of a command stands behind its name
  const auto* chat = add_chat(app, parsed);
  const auto* ask = add_ask(app, parsed);
  const auto states = add_states(app, parsed);
  const auto* serve = add_serve(app, parsed);
  const auto* stdio = add_stdio(app, parsed);
  const auto* call = add_call(app, parsed);
  const auto* connect = add_connect(app, parsed);
  const auto* pull = add_pull(app, parsed);
  const auto* remove = add_remove(app, parsed);
  const auto* logs = add_logs(app, parsed);
  const auto* doctor = add_doctor(app, parsed);
  const auto* tools = add_tools(app, parsed);
  const auto* memory = add_memory(app, parsed);
  add_settings(app, parsed);
  const auto* completion = add_completion(app, parsed);
  const auto* help = add_help(app, parsed);
  app.footer(kFooter);  // last: commands would inherit it
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    app.parse(argc, argv);
    if (help->parsed()) return show_help(app, parsed);
    if (completion->parsed()) return show_completion(app, parsed.completion_of);
    if (chat->parsed()) return {settings_request(parsed), std::move(parsed.chat)};
    if (ask->parsed()) return {settings_request(parsed), std::move(parsed.ask)};
    for (const CLI::App* state : states) {
      if (state->parsed()) return {settings_request(parsed), std::move(parsed.state)};
    }
    if (serve->parsed()) return {settings_request(parsed), parsed.serve};
    if (stdio->parsed()) {
      parsed.serve.ends_with_input = true;
      return {settings_request(parsed), parsed.serve};
    }
    if (call->parsed()) return {settings_request(parsed), call_options(parsed)};
    if (connect->parsed()) return {{}, std::move(parsed.connect)};
    if (pull->parsed()) return {settings_request(parsed), std::move(parsed.pull)};
    if (remove->parsed()) return {settings_request(parsed), std::move(parsed.remove)};
    if (doctor->parsed()) return {settings_request(parsed), parsed.doctor};
    if (logs->parsed()) return {settings_request(parsed), parsed.logs};
    if (memory->parsed()) return {settings_request(parsed), memory_command_options(parsed)};
    if (tools->parsed()) return {settings_request(parsed), tools_options(parsed)};
    return {settings_request(parsed), settings_options(parsed)};
  } catch (const CLI::Success& asked_for) {
    return {{}, Finished{app.exit(asked_for) == 0 ? kExitOk : kExitUsage}};
  } catch (const CLI::ParseError& error) {
    say_on_standard_error(complaint_about(app, arguments, error));
    return {{}, Finished{kExitUsage}};
  }
}

}  // namespace rkllm_mcp
