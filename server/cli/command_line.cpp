#include "cli/command_line.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help/complaint.hpp"
#include "cli/help/completions.hpp"
#include "cli/help/guide.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/man_page.hpp"
#include "cli/help/terminal.hpp"
#include "cli/piped_input.hpp"
#include "cli/versions.hpp"
#include "log_output.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kDescription =
    "Language models on the NPU of a Rockchip board, for any program: Rockchip's RKLLM runtime as JSON-RPC 2.0 and "
    "MCP.";

constexpr const char* kFooter = R"(Examples:
  rkllm-mcp serve
  rkllm-mcp serve --simulator --set http.port=9000
  rkllm-mcp call --text rkllm_run_async '{"rkllm_input":{"prompt_input":"Hello"}}'
  rkllm-mcp connect http://board:8080/mcp

Exit codes: 0 done; 1 failed; 2 the command line is wrong; 3 the settings are refused;
4 cannot start (a port is in use, ...).)";

// The groups of --help.
constexpr const char* kTalking = "Talk to a model";
constexpr const char* kManaging = "Look and manage";
constexpr const char* kServing = "Serve";
constexpr const char* kProgramming = "Call and connect";
constexpr const char* kSettingUp = "Set up";

constexpr const char* kUrls =
    "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH], ws://HOST:PORT[/PATH], or with TLS "
    "tcps:// or wss://; HOST:PORT alone is TCP, or what the settings have on that port";

// What the options of all commands are read into.
struct Parsed {
  std::string settings_path;
  std::vector<std::string> sets;
  std::string library;
  bool simulator = false;
  std::string only;
  std::string log_level;
  ServeOptions serve;
  CallOptions call;
  ConnectOptions connect;
  std::string call_to;
  bool call_text = false;
  std::string memory_action = "list";
  MemoryCommandOptions memory;
  std::string settings_action = "show";
  SettingsOptions settings;
  bool settings_json = false;
  ChatOptions chat;
  AskOptions ask;
  StateOptions state;
  DoctorOptions doctor;
  PullOptions pull;
  RemoveOptions remove;
  LogsOptions logs;
  ToolsOptions tools;
  std::string tools_to;
  std::string tools_arguments = "{}";
  bool tools_json = false;
  bool tools_all = false;
  std::string completion_of;
  std::vector<std::string> help_on;
  bool wants_version = false;
};

void add_settings_options(CLI::App& command, Parsed& parsed) {
  command.add_option("--settings", parsed.settings_path, "The settings file to use")->type_name("PATH");
  command.add_option("--set", parsed.sets, "Set one value, e.g. --set http.port=9000; may be repeated")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false);
}

void add_runtime_options(CLI::App& command, Parsed& parsed) {
  auto* library = command.add_option("--library", parsed.library, "The runtime library to load (runtime.library)");
  library->type_name("PATH");
  command.add_flag("--simulator", parsed.simulator, "Use the simulator instead of a runtime library")
      ->excludes(library);
  command.add_option("--log-level", parsed.log_level, "trace, debug, info, warning, error or off (log.level)")
      ->type_name("LEVEL");
  command.add_option("--ports-file", parsed.serve.ports_file, "Write the ports in use to this file, as JSON")
      ->type_name("FILE");
}

CLI::App* add_serve(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("serve", "Start the server, on all transports that the settings switch on.");
  command->group(kServing);
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  command
      ->add_option("--only", parsed.only,
                   "Run these servers only, e.g. memory-server; without rkllm-server no model, and nothing but the "
                   "services' own port unless more is switched on here or in the environment (services.only)")
      ->type_name("NAME,...");
  return command;
}

CLI::App* add_stdio(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "stdio",
      "Serve on standard input and output alone, until end of input: for hosts that start a command.\n"
      "Other transports can be added, e.g. --set tcp.enabled=true");
  command->group(kServing);
  add_settings_options(*command, parsed);
  add_runtime_options(*command, parsed);
  return command;
}

void add_token(CLI::App& command, std::string& token) {
  command
      .add_option("--token", token,
                  "The access token that the server asks for; better set in the environment than written here, where "
                  "others can see it")
      ->envname("RKLLM_MCP_TOKEN")
      ->type_name("TOKEN");
}

void add_authorities(CLI::App& command, const char* names, std::string& ca_file) {
  command
      .add_option(names, ca_file,
                  "The certificates that a server with TLS is verified with, in PEM (default: the system's; for the "
                  "server of the settings its own)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

CLI::App* add_call(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("call", "Call one method of a running server and print what comes back.");
  command->group(kProgramming);
  add_settings_options(*command, parsed);
  command->add_option("METHOD", parsed.call.method, "e.g. rkllm_run_async")->required();
  command
      ->add_option("PARAMS", parsed.call.params,
                   "Its params, as JSON; - or nothing: what is piped into standard input, else {}")
      ->type_name("JSON");
  command->add_option("--to", parsed.call_to, std::string(kUrls) + " (default: the TCP port of the settings)")
      ->type_name("URL");
  add_token(*command, parsed.call.token);
  add_authorities(*command, "--cacert", parsed.call.ca_file);
  command->add_flag("--text", parsed.call_text, "Print the generated text only, as it comes");
  command->add_option("--timeout", parsed.call.patience_s, "Longest wait for a message (default: 300)")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 1'000'000));
  return command;
}

CLI::App* add_connect(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "connect",
      "Connect standard input and output to a running MCP server: for hosts that can only start a command.\n"
      "The server may be this one or another. Each line is one message and passes as it is, in both directions. Ends "
      "with its input (exit code 0), "
      "or "
      "when the server cannot be reached or goes away: requests without an answer then get error -32603 (exit code 1)");
  command->group(kProgramming);
  command
      ->add_option("URL", parsed.connect.url,
                   "tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH] (Streamable HTTP; "
                   "without a path: /mcp), ws://HOST:PORT[/PATH], or with TLS tcps:// or wss://")
      ->required();
  add_token(*command, parsed.connect.token);
  add_authorities(*command, "--cacert,--ca-file", parsed.connect.ca_file);
  return command;
}

CLI::App* add_memory(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("memory",
                                     "Look at the conversations of the memory server, and move them.\n"
                                     "Through the server that runs, else in their file: list (default); show "
                                     "ID...; search WORD...; export [ID...] as JSON Lines; import FILE (- is standard "
                                     "input), all or nothing; delete ID...");
  command->group(kSettingUp);
  add_settings_options(*command, parsed);
  command->add_option("ACTION", parsed.memory_action, "list, show, search, export, import or delete")
      ->check(CLI::IsMember({"list", "show", "search", "export", "import", "delete"}));
  command->add_option("ARGUMENT", parsed.memory.arguments, "Ids, words, or a file");
  command->add_option("--to", parsed.memory.to, "The server, as for call")->type_name("URL");
  add_token(*command, parsed.memory.token);
  add_authorities(*command, "--cacert", parsed.memory.ca_file);
  command->add_option("--space", parsed.memory.space, "Whose: the name of an access token; for admins")
      ->type_name("NAME");
  command->add_flag("--json", parsed.memory.json, "Lines of JSON instead of tables");
  command->add_flag("--exact", parsed.memory.exact, "search: mind diacritics");
  command->add_option("--limit", parsed.memory.limit, "search: messages at most (default: 20)")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--replace", parsed.memory.replace, "import: replace conversations that exist");
  return command;
}

MemoryCommandOptions memory_command_options(Parsed& parsed) {
  using Action = MemoryCommandOptions::Action;
  static const std::map<std::string, Action> kActions{{"list", Action::kList},     {"show", Action::kShow},
                                                      {"search", Action::kSearch}, {"export", Action::kExport},
                                                      {"import", Action::kImport}, {"delete", Action::kDelete}};
  parsed.memory.action = kActions.at(parsed.memory_action);
  return std::move(parsed.memory);
}

CLI::App* add_settings(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "settings",
      "Show, check or write the settings.\n"
      "show: the values in force and where each comes from (default); path: the settings file; schema: its JSON "
      "Schema; "
      "check [FILE]: is it right?; write [FILE]: write the built-in values, never over a file that exists");
  command->group(kSettingUp);
  add_settings_options(*command, parsed);
  command->add_option("ACTION", parsed.settings_action, "show, path, schema, check or write")
      ->check(CLI::IsMember({"show", "path", "schema", "check", "write"}));
  command->add_option("FILE", parsed.settings.file, "The file to check or to write");
  command->add_flag("--json", parsed.settings_json, "show: as JSON");
  return command;
}

CLI::App* add_tools(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("tools",
                                     "List the tools (searches, web pages, ...) of a running server, or call one.\n"
                                     "Where no server runs, one is started for it.");
  command->group(kProgramming);
  const auto add_common = [&parsed](CLI::App& action) {
    add_settings_options(action, parsed);
    action
        .add_option("--to", parsed.tools_to,
                    std::string(kUrls) + " (default: the ports of the settings, if a server listens there)")
        ->type_name("URL");
    add_token(action, parsed.tools.token);
    add_authorities(action, "--cacert", parsed.tools.ca_file);
    action.add_flag("--json", parsed.tools_json, "Print JSON, for programs");
    action.add_option("--timeout", parsed.tools.patience_s, "Longest wait (default: 300)")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 1'000'000));
  };
  auto* list = command->add_subcommand("list", "Print names and what they are for");
  add_common(*list);
  list->add_flag("--all", parsed.tools_all,
                 "All tools of that server, those of the models and of other servers included");
  auto* call = command->add_subcommand("call", "Call one, of whichever server behind it, and print its answer");
  add_common(*call);
  call->add_option("NAME", parsed.tools.tool, "e.g. calculate")->required();
  call->add_option("ARGUMENTS", parsed.tools_arguments, "As a JSON object (default: {})")->type_name("JSON");
  command->require_subcommand(1);
  return command;
}

void add_remote(CLI::App& command, Parsed& parsed, RemoteOptions& remote) {
  add_settings_options(command, parsed);
  command
      .add_option("--to", remote.to,
                  "The server: HOST:PORT or http[s]://HOST[:PORT] (default: the HTTP port of the settings)")
      ->type_name("URL");
  add_token(command, remote.token);
  add_authorities(command, "--cacert", remote.ca_file);
}

CLI::App* add_chat(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "chat",
      "Talk to a model of the running server.\n"
      "Lines are edited and remembered. /help lists what else there is: other models, a system message, saving. Ctrl-C "
      "stops an answer, Ctrl-D leaves");
  command->group(kTalking);
  command->add_option("MODEL", parsed.chat.model, "Its name (default: the first that the server offers)");
  command->add_option("--system", parsed.chat.system, "Tell the model how to behave")->type_name("TEXT");
  add_remote(*command, parsed, parsed.chat.remote);
  return command;
}

CLI::App* add_ask(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "ask",
      "Ask a model one question and print the answer.\n"
      "What is piped into standard input is added to the question: rkllm-mcp ask \"Explain this error\" < error.log");
  command->group(kTalking);
  command->add_option("TEXT", parsed.ask.words, "The question");
  command->add_option("--model", parsed.ask.model, "Its name (default: the first that the server offers)")
      ->type_name("NAME");
  command->add_option("--system", parsed.ask.system, "Tell the model how to behave")->type_name("TEXT");
  command->add_flag("--json", parsed.ask.json, "Print JSON, for programs: the answer, tokens, times");
  add_remote(*command, parsed, parsed.ask.remote);
  return command;
}

CLI::App* add_state(CLI::App& app, Parsed& parsed, StateOptions::Action action, const char* name,
                    const char* description) {
  using Action = StateOptions::Action;
  auto* command = app.add_subcommand(name, description);
  command->group(kManaging);
  if (action == Action::kLoad || action == Action::kUnload) {
    command
        ->add_option("MODEL", parsed.state.model,
                     action == Action::kLoad ? "A preset of the settings, or the path of a file"
                                             : "Its name, its path or its handle")
        ->required();
  }
  command->add_flag("--json", parsed.state.json, "Print JSON, for programs");
  add_remote(*command, parsed, parsed.state.remote);
  command->callback([&parsed, action] { parsed.state.action = action; });
  return command;
}

std::vector<CLI::App*> add_states(CLI::App& app, Parsed& parsed) {
  using Action = StateOptions::Action;
  return {
      add_state(app, parsed, Action::kStatus, "status",
                "Is the server running, with which runtime, and what does it do?"),
      add_state(app, parsed, Action::kModels, "models", "Which models there are, and which of them are loaded."),
      add_state(app, parsed, Action::kLoaded, "ps", "Which models are loaded: what waits for them, how fast they are."),
      add_state(app, parsed, Action::kLoad, "load", "Load a model."),
      add_state(app, parsed, Action::kUnload, "unload", "Unload a model, and free its memory.")};
}

CLI::App* add_pull(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "pull",
      "Fetch a model from the hub (hf.co), or from any address, into the folder of models.\n"
      "Of a repository the file is taken that was made for this board and fits its memory. What has come stays when the "
      "connection breaks off, and the same command goes on from there. The file is checked against the hub's SHA-256. "
      "HF_TOKEN: the access token for repositories that want one");
  command->group(kManaging);
  command
      ->add_option("MODEL", parsed.pull.source, "hf.co/OWNER/NAME[:FILE], or the https address of a .rkllm file")
      ->required();
  command->add_option("--to", parsed.pull.folder, "The folder (default: the first of runtime.model_dirs)")
      ->type_name("FOLDER");
  add_authorities(*command, "--cacert", parsed.pull.ca_file);
  command->add_flag("--json", parsed.pull.json, "Print JSON, for programs");
  add_settings_options(*command, parsed);
  return command;
}

CLI::App* add_remove(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("rm", "Delete models from the folders of runtime.model_dirs.");
  command->group(kManaging);
  command->add_option("MODEL", parsed.remove.models, "Their names, as `rkllm-mcp models` has them")->required();
  command->add_flag("--json", parsed.remove.json, "Print JSON, for programs");
  add_remote(*command, parsed, parsed.remove.remote);
  return command;
}

CLI::App* add_doctor(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("doctor",
                                     "Find out why something does not work, and how to mend it.\n"
                                     "Looks at the runtime library, the NPU, its driver and device nodes, models and "
                                     "memory, limits, ports, permissions "
                                     "and the network. Each line is ok, a warning or a problem; what is not ok comes "
                                     "with a command that mends it. Exit "
                                     "code 1: there is a problem");
  command->group(kManaging);
  add_settings_options(*command, parsed);
  command->add_flag("--json", parsed.doctor.json, "Print JSON, for programs");
  command->add_option("--root", parsed.doctor.root, "Look at the folders sys, dev, proc and etc below this one")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  return command;
}

CLI::App* add_logs(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("logs",
                                     "Show what the server has logged.\n"
                                     "Reads the file of log.file; without one, what systemd's journal has of the "
                                     "service. Ctrl-C ends -f");
  command->group(kManaging);
  add_settings_options(*command, parsed);
  command->add_flag("-f,--follow", parsed.logs.follows, "Go on with what is logged from now on");
  command->add_option("-n,--lines", parsed.logs.lines, "How many of the last lines (default: 50)")
      ->type_name("COUNT")
      ->check(CLI::Range(0, 1'000'000));
  return command;
}

CLI::App* add_help(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand("help", "Show all commands, or one of them.");
  command->group(kSettingUp);
  command->add_option("COMMAND", parsed.help_on, "e.g. call, or tools call");
  return command;
}

CLI::App* add_completion(CLI::App& app, Parsed& parsed) {
  auto* command = app.add_subcommand(
      "completion",
      "Print completions for a shell: bash, zsh or fish.\n"
      "For bash: source <(rkllm-mcp completion bash). Packages install them. `man` prints the manual page.");
  command->group(kSettingUp);
  command->add_option("SHELL", parsed.completion_of, "bash, zsh, fish, or man")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man"}));
  return command;
}

SettingsRequest settings_request(const Parsed& parsed) {
  SettingsRequest request;
  auto& assignments = request.assignments;
  if (!parsed.settings_path.empty()) request.path = parsed.settings_path;
  request.environment = current_environment();
  if (parsed.simulator) {
    assignments.push_back({"runtime.library", std::string(kSimulatorLibrary), "--simulator"});
  }
  if (!parsed.library.empty()) assignments.push_back({"runtime.library", parsed.library, "--library"});
  if (!parsed.only.empty()) assignments.push_back({"services.only", parsed.only, "--only"});
  if (!parsed.log_level.empty()) assignments.push_back({"log.level", parsed.log_level, "--log-level"});
  for (const std::string& set : parsed.sets) {
    const auto equals = set.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--set " + set, "expected SECTION.KEY=VALUE");
    const std::string name = set.substr(0, equals);
    assignments.push_back({name, set.substr(equals + 1), "--set " + name});
  }
  return request;
}

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

CallOptions call_options(Parsed& parsed) {
  std::string& text = parsed.call.params;
  if (text == "-" || (text.empty() && ::isatty(STDIN_FILENO) != 1)) text = piped_input("the parameters");
  if (is_blank(text)) text = "{}";
  const Json params = Json::parse(text, nullptr, false);
  if (!params.is_structured()) {
    throw CLI::ValidationError(
        "PARAMS", "expected a JSON object or array, e.g. '{\"handle\":\"h1\"}'; found: " + text.substr(0, 60));
  }
  if (!parsed.call_to.empty()) parsed.call.to = parsed.call_to;
  if (parsed.call_text) parsed.call.output = CallOptions::Output::kText;
  return std::move(parsed.call);
}

ToolsOptions tools_options(Parsed& parsed) {
  ToolsOptions options = std::move(parsed.tools);
  const Json arguments = Json::parse(parsed.tools_arguments, nullptr, false);
  if (!arguments.is_object()) throw CLI::ValidationError("ARGUMENTS", "expected a JSON object");
  options.arguments = arguments.dump();
  if (!options.tool.empty()) {
    options.action = ToolsOptions::Action::kCall;
  } else if (parsed.tools_all) {
    options.action = ToolsOptions::Action::kListAll;
  }
  if (!parsed.tools_to.empty()) options.to = parsed.tools_to;
  if (parsed.tools_json) options.output = ToolsOptions::Output::kJson;
  return options;
}

SettingsOptions settings_options(Parsed& parsed) {
  using Action = SettingsOptions::Action;
  static const std::map<std::string, Action> kActions{{"show", Action::kShow},
                                                      {"path", Action::kPath},
                                                      {"schema", Action::kSchema},
                                                      {"check", Action::kCheck},
                                                      {"write", Action::kWrite}};
  parsed.settings.action = kActions.at(parsed.settings_action);
  if (parsed.settings_json) parsed.settings.output = SettingsOptions::Output::kJson;
  return std::move(parsed.settings);
}

// A text that was asked for, on standard output.
CommandLine shown(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {{}, Finished{kExitOk}};
}

CommandLine show_help(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* command = &app;
  for (const std::string& word : words) command = command->get_subcommand(word);  // throws of an unknown one
  return shown(help_text(*command, columns_of(STDOUT_FILENO)));
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
  if (argc <= 1) return shown(guide());
  CLI::App app(kDescription, "rkllm-mcp");
  app.require_subcommand(1);
  app.formatter_fn([](const CLI::App* each, const std::string&, CLI::AppFormatMode) {
    return help_text(*each, columns_of(STDOUT_FILENO));
  });
  app.set_help_flag("-h,--help", "Print this help");
  app.add_flag_callback(
      "--version", [] { throw CLI::CallForVersion(versions_line(), 0); },
      "Print the versions of the program, of the runtime that it finds, and of the runtimes that it can use");
  Parsed parsed;
  const auto* chat = add_chat(app, parsed);
  const auto* ask = add_ask(app, parsed);
  const auto states = add_states(app, parsed);
  const auto* serve = add_serve(app, parsed);
  const auto* stdio = add_stdio(app, parsed);
  const auto* call = add_call(app, parsed);
  const auto* connect = add_connect(app, parsed);
  const auto* logs = add_logs(app, parsed);
  const auto* pull = add_pull(app, parsed);
  const auto* remove = add_remove(app, parsed);
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
    if (help->parsed()) return show_help(app, parsed.help_on);
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
  } catch (const CLI::OptionNotFound&) {  // of help
    say_on_standard_error("rkllm-mcp: no such command; all commands: rkllm-mcp help");
    return {{}, Finished{kExitUsage}};
  } catch (const CLI::ParseError& error) {
    say_on_standard_error(complaint_about(app, arguments, error));
    return {{}, Finished{kExitUsage}};
  }
}

}  // namespace rkllm_mcp
